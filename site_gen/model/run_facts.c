/* Reads numbers from two levels of JSON without building a tree. */
#include "site_gen/model/run_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The end of the string that starts at `s`; the end of the text where it is not closed. */
static const char *behind_string(const char *s)
{
	for (s++; *s && *s != '"'; s++)
		s += *s == '\\' && s[1];
	return *s ? s + 1 : s;
}

static int is_key(const char *key, const char *end, const char *word)
{
	size_t len = strlen(word);
	return (size_t)(end - key) == len + 2 && !memcmp(key + 1, word, len);
}

static double *find_place(
        struct tk_run_facts *f, const char *key, const char *end, int depth, int in_plan)
{
	if (depth == 2)
		return in_plan && is_key(key, end, "workspace_bytes") ? &f->workspace_bytes : NULL;
	return depth != 1                         ? NULL
	       : is_key(key, end, "energy_j")     ? &f->energy_j
	       : is_key(key, end, "device_bytes") ? &f->device_bytes
	       : is_key(key, end, "launch_ns")    ? &f->launch_ns
	                                          : NULL;
}

struct tk_run_facts tk_run_facts_parse(const char *attributes)
{
	struct tk_run_facts f = {NAN, NAN, NAN, NAN};
	int depth = 0, in_plan = 0, plan_next = 0;
	for (const char *s = attributes; *s;) {
		if (*s == '"') {
			const char *end = behind_string(s), *value = end + strspn(end, " \t\r\n");
			double *place =
			        *value == ':' ? find_place(&f, s, end, depth, in_plan) : NULL;
			plan_next = *value == ':' && depth == 1 && is_key(s, end, "plan");
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
	return f;
}
