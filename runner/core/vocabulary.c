#include "core/vocabulary.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

static bool is_known(const struct tk_vocabulary *v, int value)
{
	return value >= 0 && value < v->count;
}

const char *tk_vocabulary_name(const struct tk_vocabulary *v, int value)
{
	return is_known(v, value) ? v->words[value].name : "unknown";
}

const char *tk_vocabulary_meaning(const struct tk_vocabulary *v, int value)
{
	return is_known(v, value) ? v->words[value].meaning : "";
}

int tk_vocabulary_parse(const struct tk_vocabulary *v, const char *name, int *value)
{
	for (int i = 0; name && i < v->count; i++)
		if ((*v->words[i].name == *name && strcmp(v->words[i].name, name) == 0) ||
		        (v->words[i].former_name && strcmp(v->words[i].former_name, name) == 0)) {
			*value = i;
			return TK_OK;
		}
	return TK_EDATA;
}

const char *tk_vocabulary_current_name(const struct tk_vocabulary *v, const char *name)
{
	int value;

	return tk_vocabulary_parse(v, name, &value) ? name : v->words[value].name;
}

const char *tk_vocabulary_first_name(const struct tk_vocabulary *v, const char *name)
{
	int value;

	if (tk_vocabulary_parse(v, name, &value))
		return name;
	return v->words[value].former_name ? v->words[value].former_name : v->words[value].name;
}
