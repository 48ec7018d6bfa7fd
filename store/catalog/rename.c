/* Series of other tools under another name. A row of `renaming` stays in the history: files that
 * are imported later, and histories that are merged, may still have the old name. Rows apply in the
 * order of time, so a later one may take an earlier one back.
 *
 * What was decided about a series that changes goes: `tracker detect` decides again. */
#include "base/base.h"
#include "store/db/internal.h"
#include "store/renaming.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* The new name where `name` is the old one; "*" stands for any text, the same in both. NULL: it is
 * another one. Free it. */
static char *rename_text(const char *old_name, const char *new_name, const char *name)
{
	const size_t lead = strcspn(old_name, "*"), len = strlen(name),
	             tail = old_name[lead] ? strlen(old_name + lead + 1) : 0;
	const char *star = strchr(new_name, '*');

	if (!old_name[lead])
		return strcmp(old_name, name) ? NULL : tk_strdup(new_name);
	if (len < lead + tail || strncmp(old_name, name, lead) ||
	        strcmp(name + len - tail, old_name + lead + 1))
		return NULL;
	if (!star)
		return tk_strdup(new_name);
	return tk_sprintf("%.*s%.*s%s", (int)(star - new_name), new_name, (int)(len - lead - tail),
	        name + lead, star + 1);
}

char *tk_renamings_apply(const struct tk_rows *renamings, const char *name)
{
	char *now = tk_strdup(name);

	for (size_t i = 0; i < renamings->count; i++) {
		const struct tk_renaming_row *r = TK_ROWS_AT(renamings, struct tk_renaming_row, i);
		char *next = rename_text(r->old_name, r->new_name, now);

		if (next) {
			free(now);
			now = next;
		}
	}
	return now;
}

/* ---- moving a series ------------------------------------------------------------------------- */

/* Hashes that a reference to the series is part of. */
static int update_hashes(struct tk_store *s, int64_t series_id, struct tk_error *err)
{
	AUTO(tk_buf) run = {0};
	AUTO(tk_buf) measurement = {0};

	tk_buf_add_str(&run, "UPDATE run SET uid=");
	tk_uid_add_sql(&run, &tk_tables[TK_TABLE_run], false);
	tk_buf_add_str(&run, " WHERE series_id=?1");
	TRY(tk_store_run(s, tk_buf_cstr(&run), TK_ARGS(series_id), err));
	tk_buf_add_str(&measurement, "UPDATE measurement SET checksum=");
	tk_checksum_add_sql(&measurement, &tk_tables[TK_TABLE_measurement], false);
	tk_buf_add_str(&measurement, " WHERE series_id=?1");
	return tk_store_run(s, tk_buf_cstr(&measurement), TK_ARGS(series_id), err);
}

/* Its points, and the runs that are its alone. A point that both have is one. */
static int move_series(struct tk_store *s, int64_t from, int64_t to, struct tk_error *err)
{
	static const char *const statements[] = {
	        "UPDATE OR IGNORE measurement SET series_id=?2 WHERE series_id=?1",
	        "DELETE FROM measurement WHERE series_id=?1 AND ?1<>?2",
	        "UPDATE OR IGNORE sample SET series_id=?2 WHERE series_id=?1",
	        "DELETE FROM sample WHERE series_id=?1 AND ?1<>?2",
	        "DELETE FROM run WHERE series_id=?1 AND EXISTS (SELECT 1 FROM run o"
	        " WHERE o.series_id=?2 AND o.night_id=run.night_id AND o.seq=run.seq)",
	        "UPDATE run SET series_id=?2 WHERE series_id=?1",
	        "DELETE FROM verdict WHERE series_id IN (?1, ?2)",
	        "DELETE FROM change_point WHERE series_id IN (?1, ?2)",
	        "DELETE FROM monitor_event WHERE series_id IN (?1, ?2)",
	        "DELETE FROM alert WHERE series_id IN (?1, ?2)",
	        "DELETE FROM bisection WHERE series_id IN (?1, ?2)",
	        "DELETE FROM series WHERE id=?1 AND ?1<>?2"};

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		TRY(tk_store_run(s, statements[i], TK_ARGS(from, to), err));
	return update_hashes(s, to, err);
}

struct rename {
	struct tk_store *store;
	bool may_overlap; /* histories that meet: both are kept */
	int64_t *count;
};

/* Two values of one night are of two series. */
static int check_overlap(const struct rename *r, int64_t from, int64_t to, const char *old_name,
        const char *new_name, struct tk_error *err)
{
	char day[TK_TIME_ISO_SIZE];
	int64_t first;

	TRY(tk_store_select_int(r->store,
	        "SELECT ifnull(min(o.as_of_s), 0) FROM measurement o JOIN measurement n"
	        " ON n.series_id=?2 AND n.as_of_s=o.as_of_s"
	        " WHERE o.series_id=?1 AND (n.run_id<>o.run_id OR n.value<>o.value)",
	        TK_ARGS(from, to), 0, &first, err));
	return first && !r->may_overlap
	               ? tk_fail(err, TK_EUSAGE,
	                         "\"%s\" and \"%s\" both have a value at %s: they are two series",
	                         old_name, new_name, tk_time_format_iso(first, day))
	               : 0;
}

static int rename_series(const struct rename *r, const struct tk_series_row *old,
        const struct tk_problem_row *problem, const char *new_name, struct tk_error *err)
{
	AUTO_TEXT text = tk_sprintf("foreign:name=%s", new_name);
	struct tk_problem_row named = *problem;
	struct tk_series_row row = *old;
	int64_t from = old->id, to;

	named.id = row.id = 0;
	named.uid = row.uid = row.slug = NULL;
	named.text = text;
	named.title = new_name;
	TRY(tk_store_put(r->store, TK_TABLE_problem, &named, &row.problem_id, err));
	TRY(tk_store_put(r->store, TK_TABLE_series, &row, &to, err));
	if (from == to)
		return 0;
	TRY(check_overlap(r, from, to, problem->title, new_name, err));
	TRY(move_series(r->store, from, to, err));
	TRY(tk_store_reset_monitor(r->store, row.device_id, INT64_MIN, err));
	++*r->count;
	return 0;
}

/* All series of other tools. */
static int apply(const struct rename *r, const struct tk_rows *renamings, struct tk_error *err)
{
	AUTO(tk_rows) problems = {0};
	TRY(tk_store_list(r->store, TK_TABLE_problem, "op='foreign'", TK_NO_ARGS, &problems, err));

	for (size_t i = 0; i < problems.count; i++) {
		const struct tk_problem_row *p = TK_ROWS_AT(&problems, struct tk_problem_row, i);
		AUTO_TEXT name = tk_renamings_apply(renamings, p->title);
		AUTO(tk_rows) series = {0};

		if (!strcmp(name, p->title))
			continue;
		TRY(tk_store_list(r->store, TK_TABLE_series, "problem_id=?1 AND mode='imported'",
		        TK_ARGS(p->id), &series, err));
		for (size_t k = 0; k < series.count; k++)
			TRY(rename_series(
			        r, TK_ROWS_AT(&series, struct tk_series_row, k), p, name, err));
	}
	return *r->count ? tk_slug_update_all(r->store, err) : 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

int tk_store_apply_renamings(struct tk_store *s, struct tk_error *err)
{
	AUTO(tk_rows) renamings = {0};
	int64_t count = 0;
	const struct rename r = {.store = s, .may_overlap = true, .count = &count};
	TRY(tk_store_list(s, TK_TABLE_renaming, NULL, TK_NO_ARGS, &renamings, err));

	return renamings.count ? apply(&r, &renamings, err) : 0;
}

static int put_all(struct tk_store *s, const struct tk_rows *added, struct tk_error *err)
{
	int64_t newest;
	TRY(tk_store_select_int(
	        s, "SELECT ifnull(max(at_s), 0) FROM renaming", TK_NO_ARGS, 0, &newest, err));

	for (size_t i = 0; i < added->count; i++) {
		struct tk_renaming_row row = *TK_ROWS_AT(added, struct tk_renaming_row, i);
		const char *star = strchr(row.old_name, '*'), *to = strchr(row.new_name, '*');

		if (!*row.old_name || !*row.new_name || !strcmp(row.old_name, row.new_name))
			return tk_fail(err, TK_EUSAGE,
			        "\"%s\" -> \"%s\": expected two different names", row.old_name,
			        row.new_name);
		if ((star && strchr(star + 1, '*')) || (to && (!star || strchr(to + 1, '*'))))
			return tk_fail(err, TK_EUSAGE,
			        "\"%s\" -> \"%s\": expected at most one \"*\", and it in the old "
			        "name too",
			        row.old_name, row.new_name);
		row.at_s = tk_clock_now_s();
		row.at_s = row.at_s > newest ? row.at_s : newest + 1;
		newest = row.at_s;
		TRY(tk_store_put(s, TK_TABLE_renaming, &row, NULL, err));
	}
	return 0;
}

static int rename_all(
        struct tk_store *s, const struct tk_rows *added, int64_t *count, struct tk_error *err)
{
	AUTO(tk_rows) renamings = {0};
	const struct rename r = {.store = s, .count = count};

	TRY(put_all(s, added, err));
	TRY(tk_store_list(s, TK_TABLE_renaming, NULL, TK_NO_ARGS, &renamings, err));
	return apply(&r, &renamings, err);
}

int tk_store_rename_series(
        struct tk_store *s, const struct tk_rows *added, int64_t *count, struct tk_error *err)
{
	*count = 0;
	TRY(tk_store_begin(s, err));
	return tk_store_end(s, rename_all(s, added, count, err), err);
}
