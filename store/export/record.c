#include "store/export/record.h"
#include <stdio.h>
#include <string.h>

#define GROUP(name) TK_TABLE_##name,
const enum tk_table_id tk_record_groups[TK_RECORD_GROUP_COUNT] = {TK_RECORD_GROUPS(GROUP)};
#undef GROUP

#define DETAIL(name, table, owner) {name, TK_TABLE_##table, TK_TABLE_##owner},
const struct tk_record_detail tk_record_details[TK_RECORD_DETAIL_COUNT] = {
        TK_RECORD_DETAILS(DETAIL)};
#undef DETAIL

bool tk_record_has_column(enum tk_table_id table, const struct tk_db_column *c)
{
	return c->kind != TK_COL_REF && !(table == TK_TABLE_measurement && (c->flags & TK_COL_KEY));
}

bool tk_record_has_nested_row(enum tk_table_id detail, enum tk_table_id owner,
        enum tk_table_id table, const struct tk_db_column *c)
{
	const struct tk_db_table *d = &tk_tables[detail];

	if (c->kind != TK_COL_REF || c->parent == owner || c->parent == TK_TABLE_machine)
		return false;
	for (size_t i = 0; i < d->column_count && table != detail; i++)
		if (d->columns[i].kind == TK_COL_REF && d->columns[i].parent == c->parent)
			return false;
	return true;
}

const char *tk_record_nested_name(const struct tk_db_column *c, char out[TK_RECORD_NAME_SIZE])
{
	snprintf(out, TK_RECORD_NAME_SIZE, "%.*s", (int)(strlen(c->name) - strlen("_id")), c->name);
	return out;
}
