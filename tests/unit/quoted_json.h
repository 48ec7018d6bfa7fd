/* JSON as tests write it, with ' for ". Needs <cmocka.h>. */
#ifndef TK_TEST_QUOTED_JSON_H
#define TK_TEST_QUOTED_JSON_H
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Until the next call. */
static inline const char *quoted(const char *text)
{
	static char copy[8192];

	assert_true(strlen(text) < sizeof copy);
	snprintf(copy, sizeof copy, "%s", text);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return copy;
}

static inline json_t *read_quoted(const char *text)
{
	json_t *json = json_loads(quoted(text), JSON_DECODE_ANY, NULL);

	assert_non_null(json);
	return json;
}

#endif
