/* What tuned configurations tell: the parameters in their names, and which of them to use along a
 * size. Problems that differ by one size alone are a sweep; its rule says what is the fastest up to
 * which size. */
#ifndef TK_CORE_TUNE_RULE_H
#define TK_CORE_TUNE_RULE_H
#include <stddef.h>
#include <stdint.h>

#define TK_TUNE_PARAMETERS_MAX 16
#define TK_TUNE_PARAMETER_SIZE 32

struct tk_tune_parameter {
	char name[TK_TUNE_PARAMETER_SIZE];
	int64_t value;
};

/* "mc=768,kc=128" has mc and kc. In a name without "=", words and numbers take turns:
 * "mc768_kc128" has the same, "tile-64x128-split-4" has "tile 1", "tile 2" and "split". Returns
 * their number; 0: the name has no number. */
size_t tk_tune_config_parse(
        const char *config, struct tk_tune_parameter out[TK_TUNE_PARAMETERS_MAX]);

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

/* One fact per problem. The caller frees the rules. */
void tk_tune_rules_find(const struct tk_tune_fact *facts, size_t count, struct tk_tune_rules *out);
void tk_tune_rules_free(struct tk_tune_rules *rules);

/* "A up to m = 16, B from m = 128"; "A from m = 16 to 4096" for all sizes. Cut where it does not
 * fit. */
const char *tk_tune_rule_format(const struct tk_tune_rule *rule, char *out, size_t size);

#endif
