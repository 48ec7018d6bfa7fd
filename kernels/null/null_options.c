/* Parses the options of the null backend. */
#include "null.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>

static const char *const stage_words[] = {"open", "supports", "plan", "bind", "launch", "fetch"};
/* clang-format off */
static const char *const fault_words[] = {
#define NULL_FAULT_WORD(id, word) word,
	NULL_FAULTS(NULL_FAULT_WORD)
};
/* clang-format on */

enum kind { COUNT, FLAG, REAL, STEP, FAULT, STAGE, TEXT };

/* clang-format off */
static const struct key {
	const char *name;
	enum kind kind;
	size_t offset;
} keys[] = {
#define KEY(name, kind) {#name, kind, offsetof(struct null_options, name)}
	KEY(seed, COUNT), KEY(revision, COUNT), KEY(run, COUNT), KEY(after, COUNT),
	KEY(slow, REAL), KEY(drift, REAL), KEY(noise, REAL), KEY(outliers, REAL), KEY(late_s, REAL),
	KEY(any_size, FLAG), KEY(throttle, FLAG), KEY(capturable, FLAG), KEY(space, FLAG),
	KEY(only, TEXT),
	KEY(alone, TEXT), KEY(wrong, TEXT), KEY(at, STAGE),
	{"fail", FAULT, offsetof(struct null_options, fault)},
	{"step", STEP, offsetof(struct null_options, step)},
#undef KEY
};
/* clang-format on */

void null_options_default(struct null_options *o)
{
	*o = (struct null_options){
	        .slow = 1, .step = 1, .noise = 0.005, .late_s = 1, .at = NULL_AT_LAUNCH};
}

static int find_word(const char *const *words, int count, const char *word)
{
	for (int i = 0; i < count; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

/* Reads digits up to `end`, a byte that must follow them. NULL: there are none, or too many; else
 * what follows `end`. strtoull() alone accepts blanks, signs and nothing at all. */
static const char *read_count(const char *text, char end, uint64_t *out)
{
	char *rest;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*out = strtoull(text, &rest, 10);
	return errno || *rest != end ? NULL : rest + 1;
}

/* 1: a finite number of at least 0. */
static int read_real(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && *end == 0 && isfinite(*out) && *out >= 0;
}

/* "RUN:FACTOR" */
static int read_step(const char *text, struct null_options *o)
{
	const char *factor = read_count(text, ':', &o->step_at);

	return factor && read_real(factor, &o->step) && o->step > 0;
}

/* 1: the value is valid. */
static int set_value(struct null_options *o, const struct key *key, const char *value)
{
	char *at = (char *)o + key->offset;
	int word;
	switch (key->kind) {
	case COUNT:
		return read_count(value, 0, (uint64_t *)at) != NULL;
	case FLAG:
		*(uint32_t *)at = value[0] == '1';
		return strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
	case REAL:
		return read_real(value, (double *)at);
	case STEP:
		return read_step(value, o);
	case FAULT:
		word = find_word(fault_words, NULL_FAULT_COUNT, value);
		o->fault = word < 0 ? NULL_FAULT_NONE : (enum null_fault)word;
		return word >= 0;
	case STAGE:
		word = find_word(stage_words, NULL_STAGES, value);
		o->at = word < 0 ? NULL_AT_LAUNCH : (enum null_stage)word;
		return word >= 0;
	default:
		return snprintf(at, NULL_TEXT, "%s", value) < NULL_TEXT;
	}
}

static int set_pair(struct null_options *o, char *pair, struct tk_abi_error *err)
{
	char *value = strchr(pair, '=');
	if (!value)
		return fail(err, TK_ABI_INVALID, "null: \"%.80s\" is not key=value", pair);
	*value++ = 0;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(keys[i].name, pair) == 0)
			return set_value(o, &keys[i], value)
			               ? TK_ABI_OK
			               : fail(err, TK_ABI_INVALID, "null: %s cannot be \"%.80s\"",
			                         pair, value);
	return fail(err, TK_ABI_INVALID, "null: there is no option \"%.80s\"", pair);
}

int null_options_parse(struct null_options *o, const char *text, struct tk_abi_error *err)
{
	int status = TK_ABI_OK;
	char *copy = strdup(text ? text : ""), *rest = copy, *pair;
	if (!copy)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	while (status == TK_ABI_OK && (pair = strsep(&rest, ",")))
		if (*pair)
			status = set_pair(o, pair, err);
	free(copy);
	return status;
}
