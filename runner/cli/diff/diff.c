/* `tracker diff`: shows regressions, improvements and failures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/diff/diff_range.h"
#include "cli/diff/view.h"
#include "cli/options.h"
#include "config/config.h"
#include "nightly/stages/detect_policy.h"
#include "store/store.h"

static struct diff_options {
	struct tk_diff_range_spec range;
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
#define FIRST_WORD(name, ...) name
#define NEXT_WORD(name, ...) "|" name
#define FORMATS TK_DIFF_FORMATS(FIRST_WORD, NEXT_WORD)

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
	(void)to, (void)err;
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
        const struct tk_diff_format *format, const struct tk_diff_view *v, struct tk_error *err)
{
	AUTO_TEXT data = NULL;
	size_t size = 0;
	FILE *f;
	int status;

	if (!opt.output) {
		status = format->write(v, stdout, err);
		return status || fflush(stdout) == 0 ? status
		                                     : tk_fail_errno(err, "cannot write to stdout");
	}
	f = open_memstream(&data, &size);
	if (!f)
		return tk_fail_errno(err, "cannot write %s", opt.output);
	status = format->write(v, f, err);
	if (fclose(f) && !status)
		status = tk_fail_errno(err, "cannot write %s", opt.output);
	if (!status)
		status = tk_file_write(opt.output, data, size, err);
	return status;
}

static int show(const struct tk_globals *g, const struct tk_diff_report *report, int *code,
        struct tk_error *err)
{
	const struct tk_diff_format *format = &tk_diff_formats[opt.format];
	struct tk_diff_view v = {.globals = g,
	        .report = report,
	        .limit = opt.limit,
	        .explicit_statuses = opt.only.is_given || opt.all,
	        .explain = opt.explain,
	        .sort = opt.sort,
	        .group = (enum tk_diff_group)(opt.group + 1),
	        .site_url = opt.site_url ? opt.site_url : g->config->site_url,
	        .first_bad_config = opt.first_bad ? g->config : NULL};

	tk_status_set_default(&opt.fail_on, g->config->fail_on);
	memcpy(v.fail_on, opt.fail_on.has, sizeof v.fail_on);
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		v.chosen[i] = opt.all || opt.only.has[i];
	if (v.limit == SIZE_MAX)
		v.limit = format->everything ? 0 : 50;
	int status = tk_diff_view_init(&v, format->everything, err);
	if (!status)
		status = write_out(format, &v, err);
	*code = tk_diff_has_fail_on(&v)               ? TK_EXIT_FOUND
	        : report->compared || opt.allow_empty ? TK_EXIT_OK
	                                              : TK_EXIT_INCOMPLETE;
	tk_diff_view_free(&v);
	return status;
}

/* With other thresholds than those that decided when the night ended. */
static bool overrides_policy(void)
{
	return !isnan(opt.threshold) || !isnan(opt.abs_s) || !isnan(opt.alpha) || opt.uncorrected ||
	       opt.min_samples || opt.confirm_nights;
}

/* Was analysed when it ended: show the stored verdicts. */
static bool shows_newest_night(const struct tk_detect_options *d)
{
	return opt.range.last == 1 && !opt.range.until && d->baseline == TK_BASELINE_WINDOW;
}

static int compare(const struct tk_globals *g, struct tk_detect_policy *policy,
        struct tk_diff_baseline *baseline, struct tk_diff_range *range,
        struct tk_diff_report *report, struct tk_error *err)
{
	struct tk_detect_options *d = &policy->options;

	TRY(tk_detect_policy_load(g->config, opt.acks, policy, err));
	override_policy(d);
	TRY(tk_diff_range_resolve(
	        g->store, g->config, &opt.range, opt.machine, d->now_s, range, err));
	TRY(tk_diff_baseline_resolve(g->store, g->config,
	        opt.baseline ? opt.baseline : g->config->thresholds.baseline, baseline, d, err));
	range->machine = opt.machine;
	range->filters = (const char *const *)opt.filters.items;
	range->ignored = (const char *const *)opt.ignored.items;
	return shows_newest_night(d) ? tk_detect_latest_nights(
	                                       g->store, d, range, overrides_policy(), report, err)
	                             : tk_detect_diff(g->store, d, range, report, err);
}

static int run_diff(struct tk_globals *g, struct tk_error *err)
{
	struct tk_diff_range range = {0};
	struct tk_diff_report report = {0};
	struct tk_detect_policy policy = {0};
	struct tk_diff_baseline baseline = {0};
	int code = TK_EXIT_OK, status = compare(g, &policy, &baseline, &range, &report, err);

	if (!status)
		status = show(g, &report, &code, err);
	tk_diff_report_free(&report);
	tk_detect_policy_free(&policy);
	tk_diff_baseline_free(&baseline);
	return status ? status : code;
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
