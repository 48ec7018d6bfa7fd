/* Reads numbers from two levels of JSON without building a tree. */
#include "site_gen/model/run_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The end of the string that starts at `s`; the end of the text if it is not closed. */
static const char *behind_string(const char *s)
{
	for (s++; *s && *s != '"'; s++)
		s += *s == '\\' && s[1];
	return *s ? s + 1 : s;
}

static int is_key(const char *key, const char *end, enum tk_measurement_field field)
{
	const char *word = tk_measurement_field_key(field);
	size_t len = strlen(word);
	return (size_t)(end - key) == len + 2 && !memcmp(key + 1, word, len);
}

struct wanted {
	const enum tk_measurement_field *fields;
	size_t count;
	double *values;
};

static double *find_place(
        const struct wanted *w, const char *key, const char *end, int depth, int in_plan)
{
	enum tk_measurement_field parent = TK_MEASUREMENT_FIELD_COUNT;
	if (depth == 2 && in_plan)
		parent = TK_MEASUREMENT_PLAN;
	else if (depth != 1)
		return NULL;
	for (size_t i = 0; i < w->count; i++)
		if (tk_measurement_field_parent(w->fields[i]) == parent &&
		        is_key(key, end, w->fields[i]))
			return &w->values[i];
	return NULL;
}

void tk_run_facts_parse(const char *attributes, const enum tk_measurement_field *fields,
        size_t count, double *values)
{
	const struct wanted wanted = {fields, count, values};
	int depth = 0, in_plan = 0, plan_next = 0;
	for (size_t i = 0; i < count; i++)
		values[i] = NAN;
	for (const char *s = attributes; *s;) {
		if (*s == '"') {
			const char *end = behind_string(s), *value = end + strspn(end, " \t\r\n");
			double *place =
			        *value == ':' ? find_place(&wanted, s, end, depth, in_plan) : NULL;
			plan_next =
			        *value == ':' && depth == 1 && is_key(s, end, TK_MEASUREMENT_PLAN);
			const char *number = place ? value + 1 + strspn(value + 1, " \t\r\n") : "";
			if (*number == '-' || (*number >= '0' && *number <= '9'))
				*place = strtod(number, NULL);
			s = end;
			continue;
		}
		if (*s == '{' || *s == '[')
			in_plan = ++depth == 2 ? plan_next : in_plan;
		else if (*s == '}' || *s == ']')
			depth--;
		s++;
	}
}
