/* Suites: files of problems. docs/reference/suites.md describes both formats. */
#ifndef TK_SUITE_H
#define TK_SUITE_H
#include "base/hash.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

struct tk_suite_problem {
	char *text;   /* canonical, see core/problem.h */
	char *source; /* where the problem comes from */
	char *group;  /* for pages: "llama-70b", "squares"; may be "" */
};

struct tk_suite {
	char *name, *title, *path;
	struct tk_suite_problem *problems;
	size_t count;
	/* Of a sequence: indices of problems in the order of their launches, with repeated ones. */
	uint32_t *launches;
	size_t launch_count;
	bool is_sequence;
	uint32_t rotate_nights; /* that measure the suite once, a share each; 0, 1: every night */
	char hash[TK_HASH_HEX_SIZE]; /* of the problems, in their order */
};

/* name: a path, or NAME of suites/NAME.yml below `root`, else of the suites that come with the
 * tracker. *.json is read in the shape of public benchmark runners. */
int tk_suite_load(const char *root, const char *name, struct tk_suite **out, struct tk_error *err);
void tk_suite_free(struct tk_suite *s);

/* Names of the suites below `root` and of those that come with the tracker, sorted; freed with
 * tk_names_free. */
int tk_suite_list_names(const char *root, char ***names, size_t *count, struct tk_error *err);

#endif
