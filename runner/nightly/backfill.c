/* Past revisions, oldest first, each as a separate night. A stopped backfill can be repeated:
 * revisions that were measured are skipped. */
#include "base/base.h"
#include "build/build.h"
#include "nightly/night.h"
#include "nightly/past.h"
#include "nightly/stages/upstream_build.h"
#include <math.h>

struct backfill {
	const struct tk_backfill_options *request;
	const struct tk_config *config;
	struct tk_store *store;
	const struct tk_night_options *options;
	struct tk_past_list list;
	size_t done, total; /* nights */
	int64_t started_ns; /* of the first one */
	struct tk_night_report *report;
};

static void add_report(struct tk_night_report *sum, const struct tk_night_report *one)
{
#define COUNT(member) offsetof(struct tk_night_report, member)
	static const size_t counts[] = {COUNT(builds), COUNT(builds_failed), COUNT(builds_partial),
	        COUNT(builds_cached), COUNT(upstreams_unreachable), COUNT(jobs), COUNT(measured),
	        COUNT(verified), COUNT(wrong), COUNT(implausible), COUNT(failed),
	        COUNT(unsupported), COUNT(skipped), COUNT(stages_failed), COUNT(unstable)};
#undef COUNT
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		*(size_t *)((char *)sum + counts[i]) += *(size_t *)((char *)one + counts[i]);
	memcpy(sum->by_status, one->by_status, sizeof sum->by_status);
	memcpy(sum->site_index, one->site_index, sizeof sum->site_index);
	memcpy(sum->uid, one->uid, sizeof sum->uid);
	sum->night_id = one->night_id;
	sum->complete &= one->complete;
	sum->nights++;
}

/* ", 2 min left" by the mean of those that are done; "" before the first. */
static const char *format_left(
        int64_t started_ns, size_t done, size_t total, char *out, size_t size)
{
	char took[48];
	const double spent_s = (double)(tk_clock_monotonic_ns() - started_ns) * 1e-9;
	*out = '\0';
	if (done)
		snprintf(out, size, ", %s left",
		        tk_duration_format(round(spent_s / (double)done * (double)(total - done)),
		                took, sizeof took));
	return out;
}

static int run_night(struct backfill *b, struct tk_past *p, struct tk_error *err)
{
	const struct tk_revision *r = &p->revision;
	struct tk_night_options options = *b->options;
	struct tk_night_report report;
	char left[64];
	tk_log(TK_LOG_INFO, "backfill", NULL, "%zu of %zu%s: %s %.12s %s", b->done + 1, b->total,
	        format_left(b->started_ns, b->done, b->total, left, sizeof left), p->upstream->name,
	        r->id, r->subject);
	options.only_upstream = p->upstream->name;
	options.backfill_revision = r->id;
	options.backfill_key = *p->key ? p->key : NULL;
	options.backfill_as_of_s = p->as_of_s;
	options.publisher = NULL; /* the site is written once, at the end */
	int status = tk_night_run(b->config, b->store, &options, &report, err);
	add_report(b->report, &report);
	p->state = TK_PAST_MEASURED;
	b->done++;
	return status;
}

/* ---- revisions with the machine code of the one before ---- */

/* Builds those that are open: their code decides which are measured. A build that cannot be tried
 * is left to its night, which stores why. */
static int build_open(struct backfill *b, struct tk_error *err)
{
	const size_t open = tk_past_list_count_open(&b->list);
	const int64_t started_ns = tk_clock_monotonic_ns();
	size_t built = 0;
	for (size_t i = 0; i < b->list.count; i++) {
		AUTO_PTR(tk_artifact) a = NULL;
		struct tk_past *p = &b->list.items[i];
		struct tk_error why = {0};
		char left[64];
		if (p->state != TK_PAST_OPEN)
			continue;
		tk_log(TK_LOG_INFO, "build", NULL, "build %zu of %zu%s: %s %.12s %s", built + 1,
		        open, format_left(started_ns, built, open, left, sizeof left),
		        p->upstream->name, p->revision.id, p->revision.subject);
		const int status = tk_past_load_build(b->config, p, NULL, true, &a, &why);
		if (tk_night_is_fatal(status))
			return tk_fail(err, status, "%s", why.message);
		built++;
	}
	return TK_OK;
}

static void report_left_out(struct backfill *b)
{
	for (size_t i = 0; i < b->list.count; i++) {
		const struct tk_past *p = &b->list.items[i];
		if (p->state == TK_PAST_MEASURED)
			tk_log(TK_LOG_INFO, "measured", NULL, "%s %.12s is measured already",
			        p->upstream->name, p->revision.id);
		if (p->state == TK_PAST_SAME_CODE)
			tk_log(TK_LOG_INFO, "same_code", NULL,
			        "%s %.12s is not measured: it has the machine code of %.12s",
			        p->upstream->name, p->revision.id,
			        b->list.items[p->same_as].revision.id);
		b->report->same_code += p->state == TK_PAST_SAME_CODE;
	}
}

/* ---- the ends first ---- */

/* A series differs by more than `min_effect` and both intervals, or only one of them has a time. */
static int do_ends_differ(struct backfill *b, const struct tk_past *from, const struct tk_past *to,
        bool *out, struct tk_error *err)
{
	static const char sql[] =
	        "WITH r AS (SELECT v.series_id, v.rev, v.value, v.lo, v.hi,"
	        "  v.outcome IN ('ok', 'throttled', 'unstable') AS is_ok, row_number() OVER"
	        "  (PARTITION BY v.series_id, v.rev ORDER BY v.night_as_of_s DESC, v.id DESC) AS "
	        "age"
	        "  FROM run_v v JOIN series_v s ON s.id = v.series_id"
	        "  WHERE s.machine = ?1 AND s.upstream = ?2 AND s.role = 'suite'"
	        "  AND v.rev IN (?3, ?4))"
	        " SELECT 1 FROM r WHERE age = 1 GROUP BY series_id HAVING count(*) < 2"
	        "  OR count(DISTINCT is_ok) > 1"
	        "  OR (max(lo) > min(hi) AND max(value) / min(value) - 1 > ?5) LIMIT 1";
	int64_t found;
	TRY(tk_store_select_int(b->store, sql,
	        TK_ARGS(b->config->machine, from->upstream->name, from->revision.id,
	                to->revision.id, tk_detect_usual_effect(b->config->thresholds.min_effect)),
	        0, &found, err));
	*out = found;
	return TK_OK;
}

/* Of the items between two measured ones, the one nearest to the middle: one that is measured too,
 * else an open one. NULL: there is none. */
static struct tk_past *find_middle(struct tk_past **items, size_t from, size_t to, size_t *index)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t d = 0, mid = from + (to - from) / 2; d <= to - from; d++)
			for (int side = 0; side < 2; side++) {
				const size_t i = side ? mid - d : mid + d;
				if (i <= from || i >= to)
					continue;
				if (items[i]->state == (pass ? TK_PAST_OPEN : TK_PAST_MEASURED)) {
					*index = i;
					return items[i];
				}
			}
	return NULL;
}

/* items: of one upstream; both ends are measured. */
static int run_between(
        struct backfill *b, struct tk_past **items, size_t from, size_t to, struct tk_error *err)
{
	size_t middle;
	bool differ;
	struct tk_past *p = find_middle(items, from, to, &middle);
	if (!p)
		return TK_OK;
	if (p->state == TK_PAST_OPEN) {
		TRY(do_ends_differ(b, items[from], items[to], &differ, err));
		for (size_t i = from + 1; !differ && i < to; i++)
			if (items[i]->state == TK_PAST_OPEN) {
				items[i]->state = TK_PAST_BETWEEN;
				b->report->between_equal++;
				b->total--;
			}
		if (!differ)
			return TK_OK;
		TRY(run_night(b, p, err));
	}
	TRY(run_between(b, items, from, middle, err));
	return run_between(b, items, middle, to, err);
}

static int run_ends_first(
        struct backfill *b, const struct tk_upstream_config *u, struct tk_error *err)
{
	struct tk_past **items = tk_calloc(b->list.count + 1, sizeof *items);
	size_t n = 0;
	int status = TK_OK;
	for (size_t i = 0; i < b->list.count; i++)
		if (b->list.items[i].upstream == u && b->list.items[i].state != TK_PAST_SAME_CODE)
			items[n++] = &b->list.items[i];
	if (n && items[0]->state == TK_PAST_OPEN)
		status = run_night(b, items[0], err);
	if (!status && n && items[n - 1]->state == TK_PAST_OPEN)
		status = run_night(b, items[n - 1], err);
	if (!status && n > 2)
		status = run_between(b, items, 0, n - 1, err);
	free(items);
	return status;
}

/* ---- all of it ---- */

static int run_all(struct backfill *b, struct tk_error *err)
{
	b->total = tk_past_list_count_open(&b->list);
	b->started_ns = tk_clock_monotonic_ns();
	for (size_t i = 0; i < b->list.count; i++) {
		struct tk_past *p = &b->list.items[i];
		if (p->state == TK_PAST_OPEN)
			TRY(b->request->ends_first ? run_ends_first(b, p->upstream, err)
			                           : run_night(b, p, err));
	}
	const struct tk_night_publisher *site = b->options->publisher;
	return site && b->done ? site->publish(site->arg, b->store, b->report->site_index, err)
	                       : TK_OK;
}

int tk_backfill_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_backfill_options *backfill,
        struct tk_night_report *report, struct tk_error *err)
{
	struct backfill b = {.request = backfill,
	        .config = config,
	        .store = store,
	        .options = options,
	        .report = report};
	int64_t started_ns = tk_clock_monotonic_ns();
	*report = (struct tk_night_report){.complete = true};
	int status = tk_device_check_names(config->devices, err);
	if (!status)
		status = tk_past_list_read(config, store, backfill, &b.list, err);
	if (!status && !backfill->same_code && !(status = build_open(&b, err)))
		tk_past_list_mark_same(&b.list);
	report_left_out(&b);
	if (!status)
		status = run_all(&b, err);
	report->wall_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	tk_past_list_free(&b.list);
	return status;
}

/* ---- builds for another machine ---- */

/* p->key becomes that of the build, where there is one. */
static int export_build(const struct tk_config *config, const struct tk_backfill_options *o,
        struct tk_past *p, struct tk_backfill_build_report *out, struct tk_error *err)
{
	AUTO_PTR(tk_artifact) a = NULL;
	TRY(tk_past_load_build(config, p, o->arch, true, &a, err));
	if (a->status != TK_BUILD_OK) {
		AUTO_TEXT why = tk_artifact_explain_failure(a);
		tk_log(TK_LOG_WARN, "build_failed", NULL, "%s %.12s: %s", p->upstream->name,
		        p->revision.id, why);
	}
	if (p->build_failed) {
		out->failed++;
		return TK_OK;
	}
	out->partial += a->status == TK_BUILD_PARTIAL;
	memcpy(p->key, a->key, TK_HASH_HEX_SIZE);
	out->built++;
	out->cached += a->cached;
	return TK_OK;
}

static int pack(const struct tk_config *config, const struct tk_past_list *list, const char *file,
        struct tk_error *err)
{
	const char **keys = tk_calloc(list->count + 1, sizeof *keys);
	size_t n = 0;
	for (size_t i = 0; i < list->count; i++)
		if (*list->items[i].key)
			keys[n++] = list->items[i].key;
	int status =
	        n ? tk_artifact_export(config->cache_dir, keys, file, err)
	          : tk_fail(err, TK_ENOTFOUND, "none of %zu revisions could be built", list->count);
	if (!status)
		status = tk_signature_write(config->signing.key, file, err);
	free(keys);
	return status;
}

int tk_backfill_export(const struct tk_config *config, const struct tk_backfill_options *o,
        const char *file, struct tk_backfill_build_report *out, struct tk_error *err)
{
	struct tk_past_list list = {0};
	const int64_t started_ns = tk_clock_monotonic_ns();
	char left[64];
	*out = (struct tk_backfill_build_report){0};
	int status = tk_past_list_read(config, NULL, o, &list, err);
	out->revisions = list.count;
	for (size_t i = 0; !status && i < list.count; i++) {
		tk_log(TK_LOG_INFO, "build", NULL, "build %zu of %zu%s: %s %.12s %s", i + 1,
		        list.count, format_left(started_ns, i, list.count, left, sizeof left),
		        list.items[i].upstream->name, list.items[i].revision.id,
		        list.items[i].revision.subject);
		status = export_build(config, o, &list.items[i], out, err);
	}
	if (!status)
		status = pack(config, &list, file, err);
	tk_past_list_free(&list);
	return status;
}
