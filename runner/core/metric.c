#include "core/metric.h"

#include <stddef.h>

TK_VOCABULARY_DEFINE(unit, "unit", TK_UNITS, TK_VOCABULARY_WORD);

#define METRIC_WORD(id, name, unit, better, meaning) [id] = {name, meaning},
TK_VOCABULARY_DEFINE(metric, "metric", TK_METRICS, METRIC_WORD);

static const struct {
	enum tk_unit unit;
	enum tk_better better;
} traits[] = {
#define METRIC_TRAITS(id, name, unit, better, meaning) [id] = {unit, better},
        TK_METRICS(METRIC_TRAITS)};

const char *tk_unit_name(enum tk_unit value)
{
	return tk_vocabulary_name(&tk_unit_words, (int)value);
}

enum tk_unit tk_unit_from_name(const char *name)
{
	int value;

	return tk_vocabulary_parse(&tk_unit_words, name, &value) ? TK_UNIT_OTHER
	                                                         : (enum tk_unit)value;
}

const char *tk_metric_name(enum tk_metric value)
{
	return tk_vocabulary_name(&tk_metric_words, (int)value);
}

enum tk_metric tk_metric_from_name(const char *name)
{
	int value;

	return tk_vocabulary_parse(&tk_metric_words, name, &value) ? TK_METRIC_OTHER
	                                                           : (enum tk_metric)value;
}

enum tk_unit tk_metric_unit(enum tk_metric value)
{
	return traits[value].unit;
}

enum tk_better tk_metric_better(enum tk_metric value)
{
	return traits[value].better;
}

bool tk_metric_is_time(const char *metric, const char *unit)
{
	return tk_metric_from_name(metric) == TK_METRIC_TIME &&
	       tk_unit_from_name(unit) == TK_UNIT_NS;
}
