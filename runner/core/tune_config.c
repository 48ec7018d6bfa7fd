/* See tune_config.h. */
#include "core/tune_config.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

/* "NAME=VALUE,...": 0 unless all of it is. */
static size_t parse_assignments(
        const char *config, struct tk_tune_parameter out[TK_TUNE_PARAMETERS_MAX])
{
	size_t count = 0;
	for (const char *at = config; *at;) {
		size_t name = strcspn(at, "=,");
		char *end;
		if (at[name] != '=' || !name || count == TK_TUNE_PARAMETERS_MAX)
			return 0;
		int64_t value = strtoll(at + name + 1, &end, 10);
		if (end == at + name + 1 || (*end && *end != ','))
			return 0;
		snprintf(out[count].name, sizeof out[count].name, "%.*s", (int)name, at);
		out[count++].value = value;
		at = *end ? end + 1 : end;
	}
	return count;
}

/* Several numbers after one word are told apart by their place. */
static void number_names(struct tk_tune_parameter *out, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && !strcmp(out[end].name, out[i].name); end++)
			;
		for (size_t k = i; end - i > 1 && k < end; k++) {
			size_t len = strnlen(out[k].name, TK_TUNE_PARAMETER_SIZE - 5);
			snprintf(out[k].name + len, TK_TUNE_PARAMETER_SIZE - len, " %zu",
			        (k - i + 1) % 100);
		}
	}
}

static size_t parse_words(const char *config, struct tk_tune_parameter out[TK_TUNE_PARAMETERS_MAX])
{
	char word[TK_TUNE_PARAMETER_SIZE] = "size";
	size_t count = 0;
	for (const char *at = config; *at && count < TK_TUNE_PARAMETERS_MAX;) {
		if (isdigit((unsigned char)*at)) {
			char *end;
			out[count].value = strtoll(at, &end, 10);
			memcpy(out[count++].name, word, sizeof word);
			at = end;
			continue;
		}
		size_t len = 0;
		while (is_word(at[len]))
			len++;
		/* the x of 64x128 separates two numbers, and so do "_" and "-" */
		size_t first = strspn(at, "_"), last = len;
		while (last > first && at[last - 1] == '_')
			last--;
		bool separates = last - first == 1 && at[first] == 'x' && count;
		if (last > first && !separates)
			snprintf(word, sizeof word, "%.*s", (int)(last - first), at + first);
		at += len ? len : 1;
	}
	number_names(out, count);
	return count;
}

size_t tk_tune_config_parse(
        const char *config, struct tk_tune_parameter out[TK_TUNE_PARAMETERS_MAX])
{
	size_t count = parse_assignments(config, out);
	return count ? count : parse_words(config, out);
}
