/* Two histories become one. Rows are the same fact if their uid (or, without one, their key) is the
 * same. If two rows describe the same fact differently, each column takes the greater value in a
 * fixed order of values (merge_sql.c), so the order of merging does not matter: a+b = b+a, a+a = a,
 * (a+b)+c = a+(b+c). Only descriptions that were replaced are lost.
 *
 * Rows are read through one handle and written through another; references are translated by maps
 * of ids. */
#include "base/try.h"
#include "store/merge/merge_internal.h"

static int merge_all(struct tk_merge *m, struct tk_error *err)
{
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		TRY(tk_merge_table(m, (enum tk_table_id)t, err));
	return tk_slug_update_all(m->into, err);
}

static int merge(struct tk_merge *m, struct tk_error *err)
{
	if (!m->from->is_trusted)
		TRY(tk_store_verify(m->from, err));
	TRY(tk_store_begin(m->into, err));
	return tk_db_end_transaction(m->into, merge_all(m, err), err);
}

int tk_store_merge(struct tk_store *into, struct tk_store *from, struct tk_merge_counts *counts,
        struct tk_error *err)
{
	struct tk_merge_counts ignored = {{0}};
	struct tk_merge m = {.from = from, .into = into, .counts = counts ? counts : &ignored};
	/* One snapshot of the source, also while a night is being written to it. */
	bool own_transaction = from->depth == 0;
	int status = from->is_trusted ? 0 : tk_schema_verify(into, err);

	if (status)
		return tk_error_add_context(err, "%s", into->path);
	status = own_transaction ? tk_store_begin_read(from, err) : 0;
	if (status)
		return status;
	status = merge(&m, err);
	if (own_transaction)
		tk_store_end_read(from);
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		tk_id_map_free(&m.ids[t]);
	return status ? tk_error_add_context(err, "%s", from->path) : 0;
}
