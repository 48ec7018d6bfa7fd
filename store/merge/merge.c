/* Two histories become one. Rows are the same fact if their uid (or, without one, their key) is the
 * same. If two rows describe the same fact differently, each column takes the greater value in a
 * fixed order of values (merge_sql.c), so the order of merging does not matter: a+b = b+a, a+a = a,
 * (a+b)+c = a+(b+c). Only descriptions that were replaced are lost.
 *
 * Rows are read through one handle and written through another; references are translated by maps
 * of ids. */
#include "base/try.h"
#include "store/merge/merge_internal.h"

static int read_last_ids(struct tk_merge *m, struct tk_error *err)
{
	TRY(tk_store_select_int(
	        m->into, "SELECT max(id) FROM night", TK_NO_ARGS, 0, &m->last_night_id, err));
	return tk_store_select_int(
	        m->into, "SELECT max(id) FROM build", TK_NO_ARGS, 0, &m->last_build_id, err);
}

/* A site that has shown the nights of `into` has to show them again, as after a new analysis. */
static int bump_verdict_versions(struct tk_merge *m, struct tk_error *err)
{
	if (!m->changes_known_nights)
		return 0;
	return tk_store_run(m->into,
	        "INSERT INTO verdict_version(night_id, version) SELECT id, 1 FROM night WHERE "
	        "id<=?1"
	        " ON CONFLICT DO UPDATE SET version=version+1",
	        TK_ARGS(m->last_night_id), err);
}

static int merge_all(struct tk_merge *m, struct tk_error *err)
{
	int status = tk_store_begin(m->into, err);

	if (status)
		return status;
	status = read_last_ids(m, err);
	for (int t = 0; t < TK_TABLE_COUNT && !status; t++)
		status = tk_merge_table(m, (enum tk_table_id)t, err);
	if (!status)
		status = tk_merge_slugs(m, err);
	if (!status)
		status = bump_verdict_versions(m, err);
	return tk_db_end_transaction(m->into, status, err);
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
	if (!from->is_trusted)
		status = tk_store_verify(from, err);
	if (!status)
		status = merge_all(&m, err);
	if (own_transaction)
		tk_store_end_read(from);
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		tk_id_map_free(&m.ids[t]);
	return status ? tk_error_add_context(err, "%s", from->path) : 0;
}
