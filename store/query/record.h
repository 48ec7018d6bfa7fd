/* The rows of a query as JSON objects: what commands list and the webhook sends. */
#ifndef TK_STORE_RECORD_H
#define TK_STORE_RECORD_H
#include <jansson.h>

struct tk_arg;
struct tk_error;
struct tk_store;

/* The rows of a query as an array of objects, which the caller frees; it is empty after a failure.
 * The column "a.b" is the member b of the object a; a is null where its first member is. A column
 * "name:time" holds seconds (null: 0) and is written in ISO 8601, "name:json" a stored document,
 * "name:bool" 0 or 1, "name:text" a text that is null where it is "". */
int tk_records_select(struct tk_store *s, const char *sql, const struct tk_arg *args, json_t **out,
        struct tk_error *err);

/* Alerts, with the members of docs/reference/json.md: rows of alert_v `a` that the end of the
 * query ("WHERE ... ORDER BY ...") selects. */
int tk_records_select_alerts(struct tk_store *s, const char *end, const struct tk_arg *args,
        json_t **out, struct tk_error *err);

/* Members by path: "change.value", "alerts.0.uid". NULL and "" where there is none. */
json_t *tk_record_get(const json_t *row, const char *path);
const char *tk_record_text(const json_t *row, const char *path);
double tk_record_number(const json_t *row, const char *path); /* NAN: none */
/* The first row with this text as a member; NULL: none. */
json_t *tk_records_find(const json_t *rows, const char *member, const char *text);

#endif
