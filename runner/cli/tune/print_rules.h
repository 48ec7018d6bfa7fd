/* The rules of stored tunings, for `tracker tune --list`. */
#ifndef TK_TUNE_PRINT_RULES_H
#define TK_TUNE_PRINT_RULES_H
#include <jansson.h>
#include <stdbool.h>

struct tk_error;
struct tk_lookup;
struct tk_rows;
struct tk_tuning_row;

/* `of`: a backend or upstream, NULL: all. */
bool tk_tune_is_chosen(const struct tk_tuning_row *row, const char *of);
/* tunings: newest first. The array of *out is new. The
 * schema is in docs/reference/tune.md. */
int tk_tune_rules_json(const struct tk_lookup *l, const struct tk_rows *tunings, const char *of,
        json_t **out, struct tk_error *err);
/* A line per rule, after the table; nothing where there is none. */
int tk_tune_print_rules(const struct tk_lookup *l, const struct tk_rows *tunings, const char *of,
        struct tk_error *err);

#endif
