/* Which configuration to use along a size: tuned results as rules. Problems that differ by one
 * size alone are a sweep; its rule says what is the fastest up to which size. */
#ifndef TK_CORE_TUNE_RULE_H
#define TK_CORE_TUNE_RULE_H
#include <stddef.h>
#include <stdint.h>

struct tk_error;

#define TK_TUNE_RULE_SIZES_MIN 3 /* fewer sizes are no sweep */

struct tk_tune_fact {
	const char *problem; /* canonical text */
	const char *choice;  /* what to use for it */
};

struct tk_tune_step {
	const char *choice; /* the caller's */
	int64_t from, to;   /* sizes that were tuned: the first and the last of this choice */
};

struct tk_tune_rule {
	char sweep[200];            /* title of the problems, with * instead of the size */
	char key[16];               /* name of the size: "m", "S", "m = n = k" */
	struct tk_tune_step *steps; /* by size; a choice may recur */
	size_t count;
	size_t sizes;
};

struct tk_tune_rules {
	struct tk_tune_rule *at; /* the one with the most sizes first */
	size_t count;
};

/* One fact per problem. Free in any case. 0 or TK_ENOMEM. */
int tk_tune_rules_find(const struct tk_tune_fact *facts, size_t count, struct tk_tune_rules *out,
        struct tk_error *err);
void tk_tune_rules_free(struct tk_tune_rules *rules);

/* "A up to m = 16, B from m = 128"; "A from m = 16 to 4096" for all sizes. Cut where it does not
 * fit. */
const char *tk_tune_rule_format(const struct tk_tune_rule *rule, char *out, size_t size);

#endif
