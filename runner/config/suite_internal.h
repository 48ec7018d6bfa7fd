/* The suite under construction, shared by the readers of both formats. */
#ifndef TK_CONFIG_SUITE_INTERNAL_H
#define TK_CONFIG_SUITE_INTERNAL_H
#include "base/yaml.h"
#include "config/suite.h"

#define TK_SUITE_PROBLEMS_MAX 10000
#define TK_SUITE_KEYS_MAX 16

struct tk_suite_builder {
	const struct tk_yaml *y;
	struct tk_suite *suite;
	size_t *lines;   /* of every problem */
	size_t *by_text; /* indices of the problems, sorted by text */
	size_t capacity;
	/* How many of the combinations of an entry to take, and the seed; count 0: all. */
	struct {
		size_t count;
		uint64_t seed;
	} pick;
	bool merge; /* a duplicate problem is no error, as in files of other tools */
	struct tk_error *err;
};

/* A key of a problem with its value or list of values. */
struct tk_suite_param {
	const char *key; /* of problem.h */
	int key_node, value_node;
	const char *fixed; /* the value if the file has no node for it; NULL: it has one */
};

/* Adds every combination of the values, or those that `pick` takes; the first key changes slowest.
 * `$key` in a value is another key's value: `2*$d`, `16384/$sq`. `at`: the node for messages. */
int tk_suite_expand(struct tk_suite_builder *b, const char *op, const struct tk_suite_param *params,
        size_t count, int at, const char *source, const char *group);
int tk_suite_add_problem(struct tk_suite_builder *b, const char *text, int at, const char *source,
        const char *group);

/* Reads a suite from a text, which is modified. `path` gives the name and the format, `name` is
 * what messages call the file. */
int tk_suite_load_text(const char *path, const char *name, struct tk_buf *text,
        struct tk_suite **out, struct tk_error *err);

/* The whole number that a mapping has under a key; `missing` without it. TK_ECONFIG: another
 * value, or one below `least`. */
int tk_suite_find_number(const struct tk_yaml *y, int map, const char *key, int64_t least,
        int64_t missing, int64_t *out, struct tk_error *err);

int tk_suite_read_yaml(struct tk_suite_builder *b);
int tk_suite_read_json(struct tk_suite_builder *b);

/* ---- names of files -------------------------------------------------------------------------- */

/* Names of what a folder beside tracker.yml and the folder of the same name of the tracker hold. */

/* Sorted, each once. `shorten` cuts the name of a file down to the name of what it holds; false: it
 * holds nothing of the kind. The names are the caller's (tk_names_free). */
int tk_suite_folder_list_names(const char *root, const char *folder, bool (*shorten)(char *file),
        char ***names, size_t *count, struct tk_error *err);

#endif
