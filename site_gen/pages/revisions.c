/* revisions/NAME.html: one commit: its change points, its builds and its machine code. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/svg.h"

#define CHANGES_MAX 300
#define FUNCTIONS_MAX 100
#define BUILDS_MAX 10
#define LOG_BYTES 8000

/* ---- series that changed ---- */

static double change_ratio(const struct tk_site_change *change)
{
	const struct tk_change_point_row *c = change->change_point;
	return c->before_value > 0 ? c->after_value / c->before_value : NAN;
}

static int size_order(const void *a, const void *b)
{
	const struct tk_site_change *x = *(const struct tk_site_change *const *)a,
	                            *y = *(const struct tk_site_change *const *)b;
	double sx = fabs(log(change_ratio(x))), sy = fabs(log(change_ratio(y)));
	if (x->worse != y->worse)
		return x->worse ? -1 : 1;
	if (sx != sy && isfinite(sx) && isfinite(sy))
		return sx < sy ? 1 : -1;
	return x < y ? -1 : x > y;
}

void tk_page_set_change_point(struct tk_site *site, struct tk_value *o,
        const struct tk_site_change *change, const char *root)
{
	const struct tk_site_series *s = change->series;
	char text[TK_FORMAT_SIZE];
	tk_value_set_fmt(site->arena, o, "href", "%sseries/%s.html", root, s->file);
	tk_page_set_clipped(site, o, "title", s->problem->title, 110);
	tk_page_set_clipped(site, o, "label", s->label, 60);
	tk_page_set_clipped(site, o, "device", s->device->name, 60);
	tk_page_set_tone(site, o, "tone", change->worse ? TK_TONE_BAD : TK_TONE_GOOD);
	tk_page_set_change(site, o, s, change_ratio(change) - 1);
	tk_value_set(site->arena, o, "before",
	        tk_format_value(change->change_point->before_value, s->row->unit, text));
	tk_value_set(site->arena, o, "after",
	        tk_format_value(change->change_point->after_value, s->row->unit, text));
	tk_page_set_time(site, o, "when", change->change_point->as_of_s);
	tk_page_set_clipped(site, o, "cause", tk_cause_name(change->change_point->cause), 40);
	tk_page_set_revision_range(site, o, change->good, change->bad);
	tk_svg_draw_change(&site->markup, change_ratio(change), change->worse);
	tk_page_set_markup(site, o, "step_markup");
}

static int set_change_points(struct tk_site *site, struct tk_value *o,
        const struct tk_site_change *first, size_t count, struct tk_error *err)
{
	const struct tk_site_change **sorted = tk_malloc((count + 1) * sizeof *sorted);
	size_t worse = 0;
	if (!sorted)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		sorted[i] = &first[i];
		worse += first[i].worse;
	}
	qsort(sorted, count, sizeof *sorted, size_order);
	struct tk_value *list = tk_value_set_list(site->arena, o, "change_points");
	for (size_t i = 0; i < count && i < CHANGES_MAX; i++)
		tk_page_set_change_point(
		        site, tk_value_append_object(site->arena, list), sorted[i], "../");
	tk_value_set_int(site->arena, o, "worse", (int64_t)worse);
	tk_value_set_int(site->arena, o, "better", (int64_t)(count - worse));
	tk_value_set_flag(site->arena, o, "change_points_cut", count > CHANGES_MAX);
	free(sorted);
	return 0;
}

/* Verdicts of the last night for this revision; a single night gives no change point yet. */
static void set_verdicts(
        struct tk_site *site, struct tk_value *page, const struct tk_revision_row *revision)
{
	struct tk_value *list = tk_value_set_list(site->arena, page, "verdicts");
	bool has_first_bad = false;
	tk_page_set_first_bad(site, page, NULL, NULL, NULL);
	for (size_t i = 0, n = 0; i < site->model.series_count && n < CHANGES_MAX; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		const struct tk_revision_row *good, *bad;
		if (!s->verdict || s->upstream->id != revision->upstream_id)
			continue;
		const enum tk_tone tone = tk_series_tone(s);
		if (tone != TK_TONE_BAD && tone != TK_TONE_GOOD)
			continue;
		tk_series_find_change_range(site, s, &good, &bad);
		if (bad != revision || good == bad)
			continue;
		if (!has_first_bad && good &&
		        tk_model_find_first_bad(&site->model, s, good->rev, bad->rev)) {
			tk_page_set_first_bad(site, page, s, good, bad);
			has_first_bad = true;
		}
		struct tk_value *o = tk_value_append_object(site->arena, list);
		tk_page_set_series(site, o, s, "../");
		tk_page_set_levels(site, o, s);
		n++;
	}
}

/* ---- how it was built ---- */

static int add_build(struct tk_site *site, struct tk_value *list, const struct tk_build_row *b,
        struct tk_error *err)
{
	struct tk_value *o = tk_value_append_object(site->arena, list);
	char text[64], *log = NULL;
	bool failed = b->status != TK_BUILD_OK;
	int status = failed ? tk_store_read_build_log(site->model.store, b->id, &log, err) : 0;
	size_t len = log ? strlen(log) : 0, skip = len > LOG_BYTES ? len - LOG_BYTES : 0;
	tk_value_set(site->arena, o, "state", tk_build_status_name(b->status));
	tk_page_set_tone(site, o, "tone", tk_build_tone(b->status));
	tk_page_set_time(site, o, "built", b->built_s);
	tk_value_set(site->arena, o, "took", tk_duration_format(b->wall_s, text, sizeof text));
	tk_value_set(site->arena, o, "size",
	        b->size_bytes ? tk_format_value((double)b->size_bytes, "bytes", text) : "");
	tk_page_set_clipped(site, o, "toolchain", b->toolchain, 200);
	tk_page_set_clipped(site, o, "flags", b->flags, 200);
	tk_page_set_clipped(site, o, "arch", b->arch, 60);
	tk_page_set_clipped(site, o, "message", b->message, 400);
	tk_value_set(site->arena, o, "log", log ? log + skip : "");
	free(log);
	return status;
}

/* The newest first. */
static int compare_builds(const void *left, const void *right)
{
	const struct tk_build_row *a = *(const struct tk_build_row *const *)left,
	                          *b = *(const struct tk_build_row *const *)right;
	if (a->built_s != b->built_s)
		return a->built_s < b->built_s ? 1 : -1;
	return (a->id < b->id) - (a->id > b->id);
}

static int set_builds(
        struct tk_site *site, struct tk_value *page, int64_t revision_id, struct tk_error *err)
{
	struct tk_value *list = tk_value_set_list(site->arena, page, "builds");
	size_t count;
	const struct tk_row_index_entry *builds =
	        tk_model_find_builds(&site->model, revision_id, &count);
	const struct tk_build_row **newest = tk_malloc((count + 1) * sizeof *newest);
	for (size_t i = 0; i < count; i++)
		newest[i] = builds[i].row;
	qsort(newest, count, sizeof(*newest), compare_builds);
	int status = 0;
	for (size_t i = 0; !status && i < count && i < BUILDS_MAX; i++)
		status = add_build(site, list, newest[i], err);
	free(newest);
	return status;
}

/* ---- its functions ---- */

/* The newest good build of a revision, of the same kind as `like` if given. */
static const struct tk_build_row *good_build(
        const struct tk_model *m, int64_t revision_id, const struct tk_build_row *like)
{
	size_t count;
	const struct tk_row_index_entry *builds = tk_model_find_builds(m, revision_id, &count);
	for (size_t i = count; i-- > 0;) {
		const struct tk_build_row *b = builds[i].row;
		bool same_kind = !like || (!strcmp(b->adapter, like->adapter) &&
		                                  !strcmp(b->arch, like->arch));
		if (b->status == TK_BUILD_OK && same_kind)
			return b;
	}
	return NULL;
}

static const struct tk_build_row *build_before(const struct tk_model *m,
        const struct tk_site_revision *r, const struct tk_build_row *build)
{
	for (const struct tk_site_revision *p = r; p-- > m->revision_changes.revisions &&
	                                           p->row->upstream_id == r->row->upstream_id;) {
		const struct tk_build_row *found = good_build(m, p->row->id, build);
		if (found)
			return found;
	}
	return NULL;
}

static int kernel_order(const struct tk_kernel_row *a, const struct tk_kernel_row *b)
{
	int d = strcmp(a->backend, b->backend);
	return d ? d : strcmp(a->name, b->name);
}

static void set_pair(
        struct tk_site *site, struct tk_value *o, const char *key, int64_t before, int64_t after)
{
	if (before < 0 && after < 0)
		tk_value_set(site->arena, o, key, "–");
	else if (before < 0 || after < 0 || before == after)
		tk_value_set_int(site->arena, o, key, after < 0 ? before : after);
	else
		tk_value_set_fmt(
		        site->arena, o, key, "%lld → %lld", (long long)before, (long long)after);
}

/* One of the two may be NULL: the function is new, or gone. */
static void add_function(struct tk_site *site, struct tk_value *list,
        const struct tk_kernel_row *before, const struct tk_kernel_row *after)
{
	const struct tk_kernel_row *any = after ? after : before;
	struct tk_value *o = tk_value_append_object(site->arena, list);
	tk_page_set_clipped(site, o, "backend", any->backend, 60);
	tk_page_set_clipped(site, o, "function", *any->name ? any->name : "(whole backend)", 160);
	tk_value_set(site->arena, o, "what",
	        !before                                       ? "new"
	        : !after                                      ? "gone"
	        : strcmp(before->code_hash, after->code_hash) ? "changed"
	                                                      : "unchanged");
	tk_page_set_clipped(site, o, "code", any->code_hash, 12);
	set_pair(site, o, "registers", before ? before->registers : -1,
	        after ? after->registers : -1);
	set_pair(site, o, "spills", before ? before->spill_bytes : -1,
	        after ? after->spill_bytes : -1);
	set_pair(site, o, "shared", before ? before->shared_bytes : -1,
	        after ? after->shared_bytes : -1);
	set_pair(site, o, "size", before ? before->size_bytes : -1, after ? after->size_bytes : -1);
}

/* Both lists are sorted by backend and name. Equal functions are counted only. */
static void merge_functions(struct tk_site *site, struct tk_value *page,
        const struct tk_rows *before, const struct tk_rows *after)
{
	struct tk_value *list = tk_value_set_list(site->arena, page, "functions");
	size_t i = 0, k = 0, shown = 0, same = 0;
	while (i < before->count || k < after->count) {
		const struct tk_kernel_row *b =
		        i < before->count ? TK_ROWS_AT(before, struct tk_kernel_row, i) : NULL;
		const struct tk_kernel_row *a =
		        k < after->count ? TK_ROWS_AT(after, struct tk_kernel_row, k) : NULL;
		int d = !b ? 1 : !a ? -1 : kernel_order(b, a);
		b = d > 0 ? NULL : b;
		a = d < 0 ? NULL : a;
		i += b != NULL;
		k += a != NULL;
		if (a && b && !strcmp(a->code_hash, b->code_hash))
			same++;
		else if (shown++ < FUNCTIONS_MAX)
			add_function(site, list, b, a);
	}
	tk_value_set_int(site->arena, page, "same_functions", (int64_t)same);
	tk_value_set_flag(site->arena, page, "has_same_functions", same > 0);
	tk_value_set_flag(site->arena, page, "functions_cut", shown > FUNCTIONS_MAX);
}

static int set_functions(struct tk_site *site, struct tk_value *page,
        const struct tk_site_revision *r, struct tk_error *err)
{
	const struct tk_build_row *build = good_build(&site->model, r->row->id, NULL),
	                          *old = build ? build_before(&site->model, r, build) : NULL;
	struct tk_rows before = {0}, after = {0};
	int status = build ? tk_store_list_kernels(site->model.store, build->id, &after, err) : 0;
	if (!status && old)
		status = tk_store_list_kernels(site->model.store, old->id, &before, err);
	tk_value_set_flag(site->arena, page, "compared", old && before.count && after.count);
	tk_page_set_revision(site, tk_value_set_object(site->arena, page, "older"),
	        old ? tk_row_index_find(&site->model.revisions_by_id, old->revision_id) : NULL);
	if (!status && old && before.count && after.count)
		merge_functions(site, page, &before, &after);
	tk_rows_free(&before);
	tk_rows_free(&after);
	return status;
}

/* ---- the page ---- */

static void set_facts(struct tk_site *site, struct tk_value *page, const struct tk_site_revision *r)
{
	const struct tk_upstream_row *u =
	        tk_row_index_find(&site->model.upstreams_by_id, r->row->upstream_id);
	struct tk_value *o = tk_value_set_object(site->arena, page, "revision");
	char link[TK_LINK_SIZE];
	tk_page_set_revision(site, o, r->row);
	tk_page_set_clipped(site, o, "full", r->row->rev, 120);
	tk_page_set_clipped(site, o, "author", r->row->author, 80);
	tk_page_set_time(site, o, "commit_time", r->row->commit_time_s);
	tk_value_set_flag(site->arena, o, "dated", r->row->commit_time_s != 0);
	tk_page_set_clipped(site, o, "upstream", u ? u->name : "", 60);
	tk_page_set_clipped(site, o, "url", u ? tk_link_strip_user(u->url, link) : "", 200);
	bool older = r > site->model.revision_changes.revisions &&
	             r[-1].row->upstream_id == r->row->upstream_id;
	if (older)
		tk_page_set_revision_range(site, o, r[-1].row, r->row);
	else
		tk_value_set(site->arena, o, "range", "");
}

static int write_revision(
        struct tk_site *site, const struct tk_site_revision *r, struct tk_error *err)
{
	char path[140], title[300];
	snprintf(path, sizeof path, "revisions/%s.html", r->file);
	const char *what = *r->row->subject ? r->row->subject : r->row->rev;
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(what, 160), what);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	set_facts(site, page, r);
	set_verdicts(site, page, r->row);
	int status = set_change_points(
	        site, page, site->model.revision_changes.all + r->first, r->count, err);
	if (!status)
		status = set_builds(site, page, r->row->id, err);
	if (!status)
		status = set_functions(site, page, r, err);
	return status ? status : tk_page_finish(site, "revision", path, err);
}

int tk_page_write_revisions(struct tk_site *site, struct tk_error *err)
{
	const struct tk_site_changes *changes = &site->model.revision_changes;
	int status = 0;
	for (size_t i = 0; !status && i < changes->revision_count; i++)
		if (changes->revisions[i].file)
			status = write_revision(site, &changes->revisions[i], err);
	return status;
}
