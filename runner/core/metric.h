/* What is measured, and in which unit. Imported series may have metrics and units of their own:
 * TK_..._OTHER. */
#ifndef TK_CORE_METRIC_H
#define TK_CORE_METRIC_H
#include <stdbool.h>

#include "core/series.h"
#include "core/vocabulary.h"

#define TK_UNITS(X) \
	X(TK_UNIT_NS, "ns", "nanoseconds") \
	X(TK_UNIT_JOULE, "J", "joules") \
	X(TK_UNIT_BYTES, "bytes", "bytes") \
	X(TK_UNIT_GB_PER_S, "gb_per_s", "10^9 bytes a second") \
	X(TK_UNIT_GFLOP_PER_S, "gflop_per_s", "10^9 floating-point operations a second") \
	X(TK_UNIT_RATIO, "ratio", "a ratio of two times") \
	X(TK_UNIT_OTHER, "other", "another unit")
enum tk_unit { TK_UNITS(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_unit_words;
const char *tk_unit_name(enum tk_unit value);
enum tk_unit tk_unit_from_name(const char *name); /* NULL or another word: TK_UNIT_OTHER */

/* id, name, unit, which way is better, meaning */
#define TK_METRICS(X) \
	X(TK_METRIC_TIME, "time", TK_UNIT_NS, TK_BETTER_LOWER, "median time of one call") \
	X(TK_METRIC_LAUNCH, "launch", TK_UNIT_NS, TK_BETTER_LOWER, \
	        "time on the host to launch one call") \
	X(TK_METRIC_ENERGY, "energy", TK_UNIT_JOULE, TK_BETTER_LOWER, "energy of one call") \
	X(TK_METRIC_MEMORY, "memory", TK_UNIT_BYTES, TK_BETTER_LOWER, \
	        "device memory of the backend") \
	X(TK_METRIC_COMPILE, "compile", TK_UNIT_NS, TK_BETTER_LOWER, \
	        "processor time of the compiler for one kernel") \
	X(TK_METRIC_IN_CONTEXT_RATIO, "in_context_ratio", TK_UNIT_RATIO, TK_BETTER_LOWER, \
	        "time of one call within a sequence, divided by its time alone") \
	X(TK_METRIC_OTHER, "other", TK_UNIT_OTHER, TK_BETTER_LOWER, "a metric of another tool")
enum tk_metric {
#define TK_METRIC_ENUM(id, name, unit, better, meaning) id,
	TK_METRICS(TK_METRIC_ENUM)
#undef TK_METRIC_ENUM
};
extern const struct tk_vocabulary tk_metric_words;
const char *tk_metric_name(enum tk_metric value);
enum tk_metric tk_metric_from_name(const char *name); /* NULL or another word: TK_METRIC_OTHER */
enum tk_unit tk_metric_unit(enum tk_metric value);
enum tk_better tk_metric_better(enum tk_metric value);
bool tk_metric_is_time(
        const char *metric, const char *unit); /* the time of a call in nanoseconds */

#endif
