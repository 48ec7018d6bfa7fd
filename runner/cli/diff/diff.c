/* `tracker diff`: shows regressions, improvements and failures. */
#include <math.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/diff/diff.h"
#include "config/config.h"
#include "nightly/stages/detect_policy.h"
#include "nightly/stages/upstream_build.h"
#include "store/store.h"
#include "upstream/repo.h"

struct range_spec {
	const char *since, *until, *base, *head; /* NULL: not given */
	size_t last;                             /* 0: not given */
};

/* --baseline: "window", "first", "best", "pinned:REV" or "tag:NAME". */
struct baseline {
	int64_t *revisions;
	size_t count;
};

#define DEFAULT_SPAN_S (INT64_C(7) * 86400)
#define REVISION_MIN 4 /* digits; shorter prefixes of a hash are ambiguous */

/* Revisions with this name; where there are none, those that start with it (?2 digits at least). */
static const char revisions_sql[] =
        "SELECT id FROM revision WHERE rev = ?1 OR (length(?1) >= ?2 AND"
        "  substr(rev, 1, length(?1)) = ?1 AND NOT EXISTS (SELECT 1 FROM revision WHERE rev = ?1))";

/* The tagged revision ?2 of the upstream ?1, or the newest measured one before its position ?3. */
static const char measured_sql[] =
        "SELECT r.id FROM revision r JOIN upstream u ON u.id = r.upstream_id WHERE u.name = ?1"
        "  AND (r.rev = ?2 OR (r.position > 0 AND r.position <= ?3))"
        " ORDER BY r.rev = ?2 DESC, r.position DESC LIMIT 1";

/* ---- revisions and tags ---------------------------------------------------------------------- */

static void add(struct baseline *b, int64_t id)
{
	b->revisions = tk_realloc(b->revisions, (b->count + 1) * sizeof *b->revisions);
	b->revisions[b->count++] = id;
}

static void baseline_free(struct baseline *b)
{
	free(b->revisions);
	*b = (struct baseline){0};
}

static int find_revisions(
        struct tk_store *s, const char *text, struct baseline *found, struct tk_error *err)
{
	json_t *rows;
	int status = tk_records_select(s, revisions_sql, TK_ARGS(text, REVISION_MIN), &rows, err);

	for (size_t i = 0; i < json_array_size(rows); i++)
		add(found, json_integer_value(json_object_get(json_array_get(rows, i), "id")));
	json_decref(rows);
	return status;
}

/* Adds the newest measured revision up to the tag for each upstream that has it. Queries the
 * repositories of the upstreams; an unreachable one is a warning, or the error if no other has the
 * tag. TK_EUSAGE: no upstream has it, or nothing so old was measured. */
static int find_tag(struct tk_store *s, const struct tk_config *config, const char *tag,
        struct baseline *found, struct tk_error *err)
{
	struct tk_error unreachable = {0};
	bool is_tagged = false;
	char ref[300];

	snprintf(ref, sizeof ref, "refs/tags/%.250s", tag);
	for (size_t i = 0; i < config->upstream_count; i++) {
		const struct tk_upstream_config *u = &config->upstreams[i];
		struct tk_revision revision;
		struct tk_error why = {0};
		struct tk_repo source;
		int64_t id;

		if (!u->enabled || !tk_upstream_kind_is_built(u->kind))
			continue;
		tk_upstream_init_repo(config, u, &source);
		int query = tk_repo_find_revision(&source, ref, &revision, &why);
		if (query && query != TK_ENOTFOUND)
			unreachable = why;
		if (query)
			continue;
		is_tagged = true;
		TRY(tk_store_select_int(s, measured_sql,
		        TK_ARGS(u->name, (const char *)revision.id, revision.position), 0, &id,
		        err));
		if (id)
			add(found, id);
	}
	if (unreachable.status && !is_tagged)
		return tk_fail(err, unreachable.status, "tag %.100s: %s", tag, unreachable.message);
	if (unreachable.status)
		tk_log(TK_LOG_WARN, "unreachable", NULL, "tag %.100s: %s", tag,
		        unreachable.message);
	return found->count ? TK_OK
	                    : tk_fail(err, TK_EUSAGE, "tag %.100s: %s", tag,
	                              is_tagged ? "no revision up to it was measured"
	                                        : "no upstream has it");
}

static int find_tagged(struct tk_store *s, const struct tk_config *config, const char *tag,
        int64_t *revision_id, struct tk_error *err)
{
	AUTO(baseline) found = {0};

	TRY(find_tag(s, config, tag, &found, err));
	*revision_id = found.revisions[0];
	return found.count == 1 ? TK_OK
	                        : tk_fail(err, TK_EUSAGE,
	                                  "tag %.100s: several upstreams have it; use the "
	                                  "revision instead",
	                                  tag);
}

static int find_revision(struct tk_store *s, const char *text, int64_t *id, struct tk_error *err)
{
	AUTO(baseline) found = {0};

	TRY(tk_store_select_int(s, "SELECT id FROM revision WHERE rev = ?1 ORDER BY id LIMIT 1",
	        TK_ARGS(text), 0, id, err));
	if (*id)
		return TK_OK;
	TRY(find_revisions(s, text, &found, err));
	if (found.count != 1)
		return tk_fail(err, TK_EUSAGE,
		        found.count ? "\"%.100s\" is ambiguous: %zu revisions start with it"
		                    : "\"%.100s\" is not a duration (7d), date (2026-11-21, "
		                      "yesterday), night, revision or tag",
		        text, found.count);
	*id = found.revisions[0];
	return TK_OK;
}

/* ---- nights ---------------------------------------------------------------------------------- */

/* "run:42": the night of a run. */
static int find_run_night(struct tk_store *s, const char *text, int64_t *id, struct tk_error *err)
{
	AUTO(tk_rows) runs = {0};

	TRY(tk_store_find_runs(s, text, &runs, err));
	if (runs.count != 1)
		return tk_fail(err, TK_EUSAGE, "run:%.60s: %s", text,
		        runs.count ? "several runs start with it" : "no such run");
	*id = TK_ROWS_AT(&runs, struct tk_run_row, 0)->night_id;
	return TK_OK;
}

/* The first night that measured a revision or a tag, or the night of a run. */
static int find_revision_night(struct tk_store *s, const struct tk_config *config, const char *text,
        int64_t *id, struct tk_error *err)
{
	int64_t revision_id = 0;
	int status;

	if (strncmp(text, "run:", 4) == 0)
		return find_run_night(s, text + 4, id, err);
	status = strncmp(text, "tag:", 4) == 0 ? find_tagged(s, config, text + 4, &revision_id, err)
	                                       : find_revision(s, text, &revision_id, err);
	if (status == TK_EUSAGE && !find_tagged(s, config, text, &revision_id, NULL))
		status = TK_OK;
	if (!status)
		status = tk_store_find_revision_night(s, revision_id, id, err);
	return status || *id ? status
	                     : tk_fail(err, TK_EUSAGE, "no night measured revision %.100s", text);
}

/* `end_of_day`: a day is its last second. */
static int find_moment(struct tk_store *s, const struct tk_config *config, const char *text,
        int64_t now_s, bool end_of_day, int64_t *out, struct tk_error *err)
{
	int64_t night_id = 0;

	if (!tk_when_parse(text, now_s, end_of_day, out, NULL))
		return TK_OK;
	TRY(find_revision_night(s, config, text, &night_id, err));
	return tk_store_select_int(
	        s, "SELECT as_of_s FROM night WHERE id = ?1", TK_ARGS(night_id), 0, out, err);
}

static int find_named_night(struct tk_store *s, const struct tk_config *config, const char *text,
        const char *machine, int64_t now_s, int64_t *id, struct tk_error *err)
{
	int64_t until;

	TRY(tk_store_select_int(
	        s, "SELECT id FROM night WHERE CAST(id AS TEXT) = ?1", TK_ARGS(text), 0, id, err));
	if (*id)
		return TK_OK;
	if (tk_time_parse(text, &until, NULL))
		return find_revision_night(s, config, text, id, err);
	TRY(find_moment(s, config, text, now_s, true, &until, err));
	TRY(tk_store_select_int(s,
	        "SELECT id FROM night_v WHERE as_of_s <= ?1 AND (?2 IS NULL OR machine = ?2)"
	        " ORDER BY as_of_s DESC LIMIT 1",
	        TK_ARGS(until, machine), 0, id, err));
	return *id ? TK_OK : tk_fail(err, TK_EUSAGE, "no night before or at \"%.100s\"", text);
}

/* The start of the range that holds the newest `last` nights of every machine. */
static int last_nights(struct tk_store *s, size_t last, const char *machine, int64_t *since_s,
        struct tk_error *err)
{
	return tk_store_select_int(s,
	        "SELECT min(as_of_s) FROM (SELECT n.as_of_s, row_number() OVER"
	        "  (PARTITION BY n.machine_id ORDER BY n.as_of_s DESC) AS age"
	        "  FROM night n JOIN machine m ON m.id = n.machine_id"
	        "  WHERE n.kind <> 'run' AND (?2 IS NULL OR m.name = ?2)) WHERE age <= ?1",
	        TK_ARGS(last, machine), INT64_MAX, since_s, err);
}

/* A range that starts after now and after every night is a mistake in a date. Nights may be later
 * than now where the clock was set back. */
static int check_not_future(struct tk_store *s, const struct range_spec *spec, int64_t since_s,
        int64_t now_s, struct tk_error *err)
{
	char now[TK_TIME_ISO_SIZE];
	int64_t newest_s;

	if (!spec->since || since_s <= now_s)
		return TK_OK;
	TRY(tk_store_select_int(
	        s, "SELECT max(as_of_s) FROM night", TK_NO_ARGS, now_s, &newest_s, err));
	return since_s <= newest_s
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE, "--since=%.100s is in the future; it is %s now",
	                         spec->since, tk_time_format_iso(now_s, now));
}

/* since, until: a moment (when.h), a revision or tag (the first night that measured it), or run:ID
 * (its night). base, head: the number of a night as in `tracker log`, a date (the newest night up
 * to its end), or a revision. Default: the last 7 days. */
static int resolve_range(struct tk_store *s, const struct tk_config *config,
        const struct range_spec *spec, const char *machine, int64_t now_s,
        struct tk_diff_range *out, struct tk_error *err)
{
	if ((spec->base || spec->head) && (spec->since || spec->until || spec->last))
		return tk_fail(
		        err, TK_EUSAGE, "--base and --head exclude --since, --until and --last");
	if (spec->since && spec->last)
		return tk_fail(err, TK_EUSAGE, "--since excludes --last");
	out->since_s = now_s - DEFAULT_SPAN_S;
	out->until_s = INT64_MAX;
	if (spec->last)
		TRY(last_nights(s, spec->last, machine, &out->since_s, err));
	if (spec->since || spec->until)
		TRY(tk_when_count_from_end(
		        s, spec->since ? spec->since : spec->until, machine, &now_s, err));
	if (spec->since)
		TRY(find_moment(s, config, spec->since, now_s, false, &out->since_s, err));
	if (spec->until)
		TRY(find_moment(s, config, spec->until, now_s, true, &out->until_s, err));
	if (spec->base)
		TRY(find_named_night(
		        s, config, spec->base, machine, now_s, &out->base_night_id, err));
	if (spec->head)
		TRY(find_named_night(
		        s, config, spec->head, machine, now_s, &out->head_night_id, err));
	if (out->since_s > out->until_s)
		return tk_fail(err, TK_EUSAGE, "--since is later than --until");
	return check_not_future(s, spec, out->since_s, now_s, err);
}

/* ---- baseline -------------------------------------------------------------------------------- */

/* "pinned:REV" and "tag:NAME" */
static int find_pinned(struct tk_store *s, const struct tk_config *config, const char *text,
        struct baseline *found, struct tk_error *err)
{
	if (strncmp(text, "pinned:", 7) != 0)
		return find_tag(s, config, text + 4, found, err);
	TRY(find_revisions(s, text + 7, found, err));
	return found->count
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE,
	                         "no revision in the history starts with \"%.100s\"", text + 7);
}

/* Sets the baseline of `options`, which points into *out. A revision counts in every upstream that
 * has it. */
static int resolve_baseline(struct tk_store *s, const struct tk_config *config, const char *text,
        struct baseline *out, struct tk_detect_options *options, struct tk_error *err)
{
	static const char *const names[] = {[TK_BASELINE_WINDOW] = "window",
	        [TK_BASELINE_FIRST] = "first",
	        [TK_BASELINE_BEST] = "best"};
	int status = TK_OK;

	*out = (struct baseline){0};
	options->baseline = TK_BASELINE_PINNED;
	options->baseline_name = text;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(text, names[i]) == 0)
			options->baseline = (enum tk_baseline)i;
	if (options->baseline == TK_BASELINE_PINNED)
		status = find_pinned(s, config, text, out, err);
	options->baseline_revisions = out->revisions;
	options->baseline_revision_count = out->count;
	return status;
}

/* ---- options --------------------------------------------------------------------------------- */

static struct diff_options {
	struct range_spec range;
	struct tk_option_list filters, ignored;
	const char *machine, *output, *site_url, *acks, *baseline;
	size_t limit, min_samples, confirm_nights;
	bool uncorrected, all, explain, first_bad, allow_empty;
	double threshold, abs_s, alpha; /* NAN: as configured */
	struct tk_status_set only, fail_on;
	enum tk_diff_sort sort;
	int group, format; /* positions in GROUPS and FORMATS */
} opt = {.threshold = NAN, .abs_s = NAN, .alpha = NAN, .limit = SIZE_MAX, .group = -1};

#define GROUPS "machine|backend|upstream|commit|kernel" /* in the order of tk_diff_group */
#define SORTS "severity|pct|abs|name"                   /* in the order of tk_diff_sort */
#define FORMATS "text|json|ndjson|csv|md|github|sarif|junit"

static const struct format {
	int (*write)(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
	bool everything; /* all series unless --only selects: for programs */
} formats[] = {          /* in the order of FORMATS */
        {tk_diff_write_text, false}, {tk_diff_write_json, true}, {tk_diff_write_ndjson, true},
        {tk_diff_write_csv, true}, {tk_diff_write_markdown, false}, {tk_diff_write_github, false},
        {tk_diff_write_sarif, false}, {tk_diff_write_junit, true}};

static int parse_baseline(const char *text, void *to, struct tk_error *err)
{
	char hint[TK_SUGGEST_HINT_SIZE];

	*(const char **)to = text;
	return tk_config_is_baseline(text)
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE,
	                         "expected window, first, best, pinned:REV or tag:NAME%s",
	                         tk_suggest_hint(text, tk_config_baselines, "", hint));
}

/* A filter with another name. */
static int parse_metric(const char *text, void *to, struct tk_error *err)
{
	tk_option_list_append(&opt.filters, tk_sprintf("metric:%s", text));
	return TK_OK;
}

static const struct tk_option options[] = {
        {TK_OPT_HEADING("Range (default: the last 7 days)")},
        {TK_OPT_TEXT("base", 0, "NIGHT", &opt.range.base,
                "Check the nights after NIGHT: a number, date, revision, tag or run:ID")},
        {TK_OPT_PARSED("baseline", 0, "WHAT", parse_baseline, &opt.baseline,
                "Compare with the nights before the range (window), the first ones (first), "
                "the best level (best), pinned:REV or tag:NAME (default: as configured)")},
        {TK_OPT_TEXT("head", 0, "NIGHT", &opt.range.head, "Check the nights up to NIGHT")},
        {TK_OPT_COUNT("last", 0, "N", 1, 1e6, &opt.range.last,
                "Check the last N nights of each machine")},
        {TK_OPT_TEXT("since", 's', "WHEN", &opt.range.since,
                "Check the nights from WHEN on: 7d, 2026-11-21, yesterday, a revision, a tag "
                "or run:ID")},
        {TK_OPT_TEXT("until", 0, "WHEN", &opt.range.until, "Check the nights up to WHEN")},
        {TK_OPT_HEADING("Selection")},
        {TK_OPT_LIST("filter", 0, "KEY:GLOB", &opt.filters,
                "Show only series whose backend, problem, op, dtype, device, machine, "
                "upstream, metric, mode, config, role or series matches; may be repeated: "
                "other keys narrow, the same key widens")},
        {TK_OPT_LIST(
                "ignore", 0, "KEY:GLOB", &opt.ignored, "Leave these series out; may be repeated")},
        {TK_OPT_TEXT("machine", 0, "NAME", &opt.machine, "Show only this machine")},
        {TK_OPT_PARSED("metric", 0, "NAME", parse_metric, NULL, "Show only this metric")},
        {TK_OPT_HEADING("Decision (default: as configured)")},
        {TK_OPT_NUMBER("abs-threshold", 0, "TIME", TK_QUANTITY_TIME, 0, 3600, &opt.abs_s,
                "Ignore changes smaller than TIME: 500ns, 10us, 1ms")},
        {TK_OPT_NUMBER("alpha", 0, "RATE", TK_QUANTITY_FRACTION, 0, 1, &opt.alpha,
                "Control the false-discovery rate over the series of a machine at RATE: 5% or "
                "0.05")},
        {TK_OPT_COUNT("confirm", 0, "N", 0, UINT32_MAX, &opt.confirm_nights,
                "Report a change seen on fewer than N nights as unsure")},
        {TK_OPT_WORD("correction", 0, "bh|none", &opt.uncorrected,
                "Correct for many series by Benjamini-Hochberg over a machine (default), or "
                "not at all")},
        {TK_OPT_COUNT("min-samples", 0, "N", 0, UINT32_MAX, &opt.min_samples,
                "Report a change with fewer than N samples before or after it as unsure")},
        {TK_OPT_NUMBER("threshold", 0, "PERCENT", TK_QUANTITY_FRACTION, 0, 10, &opt.threshold,
                "Ignore changes smaller than PERCENT: 5% or 0.05")},
        {TK_OPT_HEADING("View")},
        {TK_OPT_FLAG("all", 'a', &opt.all, "Show every series, not only the changed ones")},
        {TK_OPT_FLAG("explain", 'e', &opt.explain,
                "Show the numbers and reasons of each series in full")},
        {TK_OPT_FLAG("first-bad", 0, &opt.first_bad,
                "Also show the commits of every regression, and how to bisect them with git")},
        {TK_OPT_WORD("group-by", 0, GROUPS, &opt.group,
                "Print one table per group, with its geometric mean")},
        {TK_OPT_COUNT("limit", 'n', "N", 0, 1e9, &opt.limit,
                "Show at most N series (default: 50 in text; 0: all)")},
        {TK_OPT_PARSED("only", 0, "STATUS,...", tk_option_parse_statuses, &opt.only,
                "Show only series with one of these statuses")},
        {TK_OPT_WORD("sort", 0, SORTS, &opt.sort, "Sort by this (default: severity)")},
        {TK_OPT_HEADING("Gate")},
        {TK_OPT_TEXT("acks", 0, "FILE", &opt.acks,
                "Read accepted changes from FILE (default: as configured, acks.yml)")},
        {TK_OPT_FLAG("allow-empty", 0, &opt.allow_empty,
                "Exit with 0 even if nothing could be compared")},
        {TK_OPT_PARSED("fail-on", 0, "STATUS,...", tk_option_parse_statuses, &opt.fail_on,
                "Exit with 1 if a series has one of these statuses (default: as configured); "
                "none: never")},
        {TK_OPT_HEADING("Output")},
        {TK_OPT_WORD("format", 'f', FORMATS, &opt.format, "Print in this format (default: text)")},
        {TK_OPT_TEXT("output", 'o', "FILE", &opt.output,
                "Write to FILE instead of the standard output")},
        {TK_OPT_PARSED("site-url", 0, "URL", tk_option_parse_url, &opt.site_url,
                "Link each series to its page of the dashboard at URL (default: site.url)")},
        {0},
};

static void override_policy(struct tk_detect_options *d)
{
	d->min_effect = isnan(opt.threshold) ? d->min_effect : opt.threshold;
	d->min_effect_ns = isnan(opt.abs_s) ? d->min_effect_ns : 1e9 * opt.abs_s;
	d->fdr = isnan(opt.alpha) ? d->fdr : opt.alpha;
	d->uncorrected = opt.uncorrected;
	d->min_samples = (uint32_t)opt.min_samples;
	d->confirm_nights = (uint32_t)opt.confirm_nights;
}

/* A file is written completely or not at all. */
static int write_out(
        const struct format *format, const struct tk_diff_view *v, struct tk_error *err)
{
	AUTO_TEXT data = NULL;
	size_t size = 0;

	if (!opt.output)
		return format->write(v, stdout, err);
	FILE *f = tk_check_memory(open_memstream(&data, &size));
	int status = format->write(v, f, err);

	fclose(f);
	return status ? status : tk_file_write(opt.output, data, size, err);
}

/* Returns an exit code. */
static int show(
        const struct tk_globals *g, const struct tk_diff_report *report, struct tk_error *err)
{
	const struct format *format = &formats[opt.format];
	const struct tk_diff_view choice = {.globals = g,
	        .report = report,
	        .limit = opt.limit,
	        .explicit_statuses = opt.only.is_given || opt.all,
	        .explain = opt.explain,
	        .sort = opt.sort,
	        .group = (enum tk_diff_group)(opt.group + 1),
	        .site_url = opt.site_url ? opt.site_url : g->config->site_url,
	        .first_bad_config = opt.first_bad ? g->config : NULL};
	AUTO(tk_diff_view) v = choice;

	tk_status_set_default(&opt.fail_on, g->config->fail_on);
	memcpy(v.fail_on, opt.fail_on.has, sizeof v.fail_on);
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		v.chosen[i] = opt.all || opt.only.has[i];
	if (v.limit == SIZE_MAX)
		v.limit = format->everything ? 0 : 50;
	tk_diff_view_init(&v, format->everything);
	TRY(write_out(format, &v, err));
	return v.is_found                            ? TK_EXIT_FOUND
	       : report->compared || opt.allow_empty ? TK_EXIT_OK
	                                             : TK_EXIT_INCOMPLETE;
}

/* With other thresholds than those that decided when the night ended. */
static bool overrides_policy(void)
{
	return !isnan(opt.threshold) || !isnan(opt.abs_s) || !isnan(opt.alpha) || opt.uncorrected ||
	       opt.min_samples || opt.confirm_nights;
}

static bool is_explicit(const struct range_spec *r)
{
	return r->since || r->until || r->base || r->head || r->last;
}

/* Was analysed when it ended: show the stored verdicts. */
static bool shows_newest_night(const struct tk_detect_options *d)
{
	return opt.range.last == 1 && !opt.range.until && d->baseline == TK_BASELINE_WINDOW;
}

static int run_diff(struct tk_globals *g, struct tk_error *err)
{
	struct tk_diff_range range = {.machine = opt.machine,
	        .filters = (const char *const *)opt.filters.items,
	        .ignored = (const char *const *)opt.ignored.items};
	AUTO(tk_diff_report) report = {0};
	AUTO(tk_detect_policy) policy = {0};
	AUTO(baseline) baseline = {0};
	struct tk_detect_options *d = &policy.options;

	TRY(tk_detect_policy_load(g->config, opt.acks, &policy, err));
	override_policy(d);
	TRY(resolve_range(g->store, g->config, &opt.range, opt.machine, d->now_s, &range, err));
	if (is_explicit(&opt.range)) /* who names a range knows how old it is */
		d->stale_days = 0;
	TRY(resolve_baseline(g->store, g->config,
	        opt.baseline ? opt.baseline : g->config->thresholds.baseline, &baseline, d, err));
	TRY(shows_newest_night(d) ? tk_detect_latest_nights(
	                                    g->store, d, &range, overrides_policy(), &report, err)
	                          : tk_detect_diff(g->store, d, &range, &report, err));
	return show(g, &report, err);
}

const struct tk_command tk_command_diff = {.name = "diff",
        .summary = "show regressions, improvements and failures",
        .usage = {.options = options,
                .surplus = "--filter=KEY:GLOB selects series",
                .help = "Show what changed: compare every series of the range with the nights "
                        "before it. A change must exceed the noise of its series; the "
                        "false-discovery rate is controlled over all series of a machine, and "
                        "changes of the machine itself are reported as `environment`.\v"
                        "Every series is counted in the last line. The statuses are listed in "
                        "docs/reference/diff.md.\n\n"
                        "Exit code: 0 no status of --fail-on, 1 at least one, 2 usage or "
                        "configuration, 3 nothing was compared.\n\n"
                        "Examples:\n"
                        "  tracker diff --since=7d\n"
                        "  tracker diff --last=1 --filter=backend:openblas --explain\n"
                        "  tracker diff --since=2026-11-01 --threshold=5% "
                        "--fail-on=regressed,missing\n"
                        "  tracker diff --format=json | jq '.rows[] | select(.status == "
                        "\"regressed\") | .bad_rev'\n"
                        "  tracker diff --format=github --site-url=https://example.org/perf/"},
        .opens = TK_OPENS_READ,
        .run = run_diff};
