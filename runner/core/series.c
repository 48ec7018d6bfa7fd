#include "core/series.h"

TK_VOCABULARY_WRITTEN(series_role, "role", TK_SERIES_ROLES);
TK_VOCABULARY(better, "direction", TK_BETTER);
TK_VOCABULARY_WRITTEN(ceiling_source, "source of a ceiling", TK_CEILING_SOURCES);
TK_VOCABULARY_DEFINE(device_kind, "device kind", TK_DEVICE_KINDS, TK_VOCABULARY_WORD);

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
