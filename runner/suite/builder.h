/* What the files that read suites share: the suite under construction. */
#ifndef TK_SUITE_BUILDER_H
#define TK_SUITE_BUILDER_H
#include "suite/suite.h"
#include <stdbool.h>

struct tk_buf;
struct tk_yaml;

#define TK_SUITE_PROBLEMS_MAX 10000
#define TK_SUITE_KEYS_MAX 16

struct tk_suite_builder {
	const struct tk_yaml *y;
	struct tk_suite *suite;
	size_t *lines;   /* of every problem */
	size_t *by_text; /* indices of the problems, sorted by text */
	size_t capacity;
	bool merge; /* the same problem twice is one problem (files of others), not an error */
	struct tk_error *err;
};

/* One "key: value or list of values" of a problem. */
struct tk_suite_param {
	const char *key; /* of problem.h */
	int key_node, value_node;
	const char *fixed; /* text of the value where the file has none of its own */
};

/* Adds every combination of the values, the first key slowest. `$key` in a value is another key's
 * value; `16384/$sq`, `2*$d`. */
int tk_suite_expand(struct tk_suite_builder *b, const char *op, const struct tk_suite_param *params,
        size_t count, int at, const char *source, const char *group);
/* `at`: the node that messages point at. */
int tk_suite_add_problem(struct tk_suite_builder *b, const char *text, int at, const char *source,
        const char *group);

/* The whole reading but for the file. `path` gives the name and the format, `name` is what messages
 * call it; text is changed. */
int tk_suite_load_text(const char *path, const char *name, struct tk_buf *text,
        struct tk_suite **out, struct tk_error *err);

int tk_suite_read_yaml(struct tk_suite_builder *b);
int tk_suite_read_json(struct tk_suite_builder *b);

#endif
