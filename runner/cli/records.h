/* Lists of the history: a command that lists is a query, whose rows are JSON objects, and the
 * columns of a table that show their members. */
#ifndef TK_CLI_RECORDS_H
#define TK_CLI_RECORDS_H
#include <jansson.h>

#include "cli/table.h"
#include "store/query/record.h"
#include "store/select.h"

struct tk_error;
struct tk_globals;
struct tk_store;

/* Prints rows as JSON, or as a table; `empty` where there are none (text only). Frees `rows`. */
int tk_records_print(const struct tk_globals *g, const struct tk_column *columns, json_t *rows,
        bool as_json, const char *empty, struct tk_error *err);

/* The end of a list that has both: prints one of them and frees them. */
int tk_records_finish(struct tk_table *t, json_t *rows, bool as_json, struct tk_error *err);

/* The number of a night by its number, the start of its uid, or "last" for the newest. TK_EUSAGE:
 * none or several. */
int tk_records_find_night(
        struct tk_store *s, const char *text, int64_t *night_id, struct tk_error *err);

#endif
