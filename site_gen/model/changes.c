/* Joins change points with the revisions and environments around them. */
#include "site_gen/model/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/links.h"
#include "site_gen/model/model.h"

static int64_t id_of_revision(const struct tk_revision_row *r)
{
	return r ? r->id : 0;
}

static int64_t id_of_environment(const struct tk_environment_row *e)
{
	return e ? e->id : 0;
}

/* Whether the commit may be the cause. */
static bool is_of_revision(const struct tk_site_change *change)
{
	return change->bad && change->good != change->bad;
}

static int compare_changes(const void *a, const void *b)
{
	const struct tk_site_change *x = a, *y = b;
	int64_t rx = id_of_revision(x->bad), ry = id_of_revision(y->bad);
	int64_t ex = id_of_environment(x->environment), ey = id_of_environment(y->environment);
	if (rx != ry)
		return rx < ry ? -1 : 1;
	if (is_of_revision(x) != is_of_revision(y))
		return is_of_revision(x) ? -1 : 1;
	if (ex != ey)
		return ex < ey ? -1 : 1;
	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->change_point < y->change_point ? -1 : x->change_point > y->change_point;
}

static void make_changes(const struct tk_model *m, const struct tk_rows *steps,
        struct tk_site_changes *out)
{
	out->all = tk_malloc((steps->count + 1) * sizeof *out->all);
	for (size_t i = 0; i < steps->count && i < m->change_rows.count; i++) {
		const struct tk_change_point_builds_row *step =
		        TK_ROWS_AT(steps, struct tk_change_point_builds_row, i);
		const struct tk_change_point_row *c =
		        TK_ROWS_AT(&m->change_rows, struct tk_change_point_row, i);
		const struct tk_site_series *s = tk_model_find_series(m, c->series_id);
		if (!s || step->series_id != c->series_id || step->run_id != c->run_id)
			continue;
		out->all[out->count++] = (struct tk_site_change){.series = s,
		        .change_point = c,
		        .good = tk_model_find_build_revision(m, step->previous_build_id),
		        .bad = tk_model_find_build_revision(m, step->build_id),
		        .environment_before = tk_row_index_find(
		                &m->environments_by_id, step->previous_environment_id),
		        .environment =
		                tk_row_index_find(&m->environments_by_id, step->environment_id),
		        .worse = (c->after_value > c->before_value) ==
		                 (s->row->better == TK_BETTER_LOWER)};
	}
	if (out->count)
		qsort(out->all, out->count, sizeof *out->all, compare_changes);
}

static size_t find_index(const struct tk_model *m, const struct tk_revision_row *r)
{
	return (size_t)(r - (const struct tk_revision_row *)m->revision_rows.rows);
}

/* Changes of one bad revision are neighbours. Those that the commit cannot have caused are not
 * counted. */
static void count_changes(const struct tk_model *m, struct tk_site_changes *out)
{
	for (size_t i = 0; i < out->count; i++) {
		const struct tk_site_change *change = &out->all[i];
		if (!is_of_revision(change))
			continue;
		struct tk_site_revision *r = &out->revisions[find_index(m, change->bad)];
		r->first = r->count ? r->first : i;
		r->count++;
		r->worse += change->worse;
	}
}

/* The first 12 digits of a hash are its own. Those of a time (20261101000001) are not. */
static bool is_commit_hash(const char *rev)
{
	size_t digits = strspn(rev, "0123456789"), len = strspn(rev, "0123456789abcdef");
	return len >= 40 && digits < len && !rev[len];
}

static char *make_file_name(const struct tk_model *m, const struct tk_revision_row *r)
{
	const struct tk_upstream_row *u = tk_row_index_find(&m->upstreams_by_id, r->upstream_id);
	char *name = NULL, *file = NULL, rev[TK_LINK_SIZE];
	tk_rev_abbreviate(r->rev, rev);
	bool hash = is_commit_hash(r->rev) && !strncmp(rev, r->rev, 12) && strlen(rev) == 12;
	/* A shortened version may not be unique; the end of the uid is. */
	if (asprintf(&name, "%.40s-%s%s%.*s", u ? u->name : "", rev, hash ? "" : "-", hash ? 0 : 8,
	            r->uid) >= 0)
		file = tk_path_make_slug(name);
	free(name);
	return file;
}

/* Revisions are in order within their upstream; the newest are at the end. */
static void name_pages(const struct tk_model *m, struct tk_site_changes *out)
{
	size_t newer = 0;
	for (size_t i = out->revision_count; i-- > 0;) {
		struct tk_site_revision *r = &out->revisions[i];
		bool same =
		        i + 1 < out->revision_count && r[1].row->upstream_id == r->row->upstream_id;
		newer = same ? newer + 1 : 0;
		if (!r->count && newer >= TK_SITE_REVISION_PAGES)
			continue;
		r->file = make_file_name(m, r->row);
	}
}

void tk_site_changes_join(const struct tk_model *m, const struct tk_rows *steps,
        struct tk_site_changes *out)
{
	make_changes(m, steps, out);
	out->revision_count = m->revision_rows.count;
	out->revisions = tk_calloc(out->revision_count + 1, sizeof *out->revisions);
	for (size_t i = 0; i < out->revision_count; i++)
		out->revisions[i].row = TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i);
	count_changes(m, out);
	name_pages(m, out);
}

void tk_site_changes_free(struct tk_site_changes *changes)
{
	for (size_t i = 0; i < changes->revision_count && changes->revisions; i++)
		free(changes->revisions[i].file);
	free(changes->revisions);
	free(changes->all);
	*changes = (struct tk_site_changes){0};
}

const struct tk_site_revision *tk_site_changes_find_revision(const struct tk_model *m,
        const struct tk_site_changes *changes, const struct tk_revision_row *r)
{
	return r ? &changes->revisions[find_index(m, r)] : NULL;
}
