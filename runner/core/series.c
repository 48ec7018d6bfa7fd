#include "core/series.h"

#define DEFINE(stem, subject, LIST) TK_VOCABULARY_DEFINE(stem, subject, LIST, TK_VOCABULARY_WORD)

DEFINE(series_role, "role", TK_SERIES_ROLES);
TK_VOCABULARY_NAME(series_role);
DEFINE(better, "direction", TK_BETTER);
TK_VOCABULARY_FUNCTIONS(better);
DEFINE(ceiling_source, "source of a ceiling", TK_CEILING_SOURCES);
TK_VOCABULARY_NAME(ceiling_source);
DEFINE(device_kind, "device kind", TK_DEVICE_KINDS);

const char *tk_device_kind_name(enum tk_device_kind value)
{
	return tk_vocabulary_name(&tk_device_kind_words, (int)value);
}

enum tk_device_kind tk_device_kind_from_name(const char *name)
{
	int value;

	return tk_vocabulary_parse(&tk_device_kind_words, name, &value)
	               ? TK_DEVICE_OTHER
	               : (enum tk_device_kind)value;
}

uint32_t tk_device_kind_bit(const char *name)
{
	return UINT32_C(1) << tk_device_kind_from_name(name);
}
