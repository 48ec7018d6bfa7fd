/* See records.h. */
#include "cli/records.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/commands.h"

int tk_records_print(const struct tk_globals *g, const struct tk_column *columns, json_t *rows,
        bool as_json, const char *empty, struct tk_error *err)
{
	struct tk_table *t = NULL;
	const json_t *row;
	size_t i;
	int status = TK_OK;

	if (as_json)
		return tk_command_print_json(rows, err);
	if (!json_array_size(rows) && empty) {
		puts(empty);
	} else {
		t = tk_table_new(g, columns);
		json_array_foreach (rows, i, row)
			tk_table_add_record(t, row);
		status = tk_table_finish(t, stdout, err);
	}
	json_decref(rows);
	return status;
}

int tk_records_finish(struct tk_table *t, json_t *rows, bool as_json, struct tk_error *err)
{
	int status = as_json ? tk_command_print_json(json_incref(rows), err)
	                     : tk_table_print(t, stdout, err);

	tk_table_free(t);
	json_decref(rows);
	return status;
}

int tk_records_find_night(
        struct tk_store *s, const char *text, int64_t *night_id, struct tk_error *err)
{
	static const char sql[] = "SELECT id FROM night WHERE CASE"
	                          " WHEN ?1 = 'last' THEN id = (SELECT id FROM night"
	                          " ORDER BY as_of_s DESC, id DESC LIMIT 1)"
	                          " WHEN EXISTS (SELECT 1 FROM night WHERE CAST(id AS TEXT) = ?1)"
	                          " THEN CAST(id AS TEXT) = ?1"
	                          " ELSE ?1 <> '' AND substr(uid, 1, length(?1)) = ?1 END";
	json_t *found;
	int status = tk_records_select(s, sql, TK_ARGS(text), &found, err);
	size_t count = json_array_size(found);

	*night_id = json_integer_value(json_object_get(json_array_get(found, 0), "id"));
	json_decref(found);
	if (status || count == 1)
		return status;
	if (strcmp(text, "last") == 0)
		return tk_fail(
		        err, TK_EUSAGE, "no night \"%s\": the history has no nights yet", text);
	return tk_fail(err, TK_EUSAGE,
	        count ? "\"%s\" is ambiguous: %zu nights start with it"
	              : "no night \"%s\"; `tracker log` lists the nights",
	        text, count);
}
