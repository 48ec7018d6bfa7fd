/* `tracker diff`: shows regressions, improvements and failures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/diff/baseline.h"
#include "cli/diff/range.h"
#include "cli/diff/view.h"
#include "cli/options.h"
#include "config/config.h"
#include "nightly/stages/detect_policy.h"
#include "store/store.h"

enum option_key {
	OPT_SINCE = 's',
	OPT_FORMAT = 'f',
	OPT_OUTPUT = 'o',
	OPT_LIMIT = 'n',
	OPT_ALL = 'a',
	OPT_EXPLAIN = 'e',
	OPT_UNTIL = 256,
	OPT_FILTER,
	OPT_BASE,
	OPT_HEAD,
	OPT_LAST,
	OPT_MACHINE,
	OPT_METRIC,
	OPT_THRESHOLD,
	OPT_ABS,
	OPT_ALPHA,
	OPT_ONLY,
	OPT_SORT,
	OPT_GROUP,
	OPT_FAIL_ON,
	OPT_ALLOW_EMPTY,
	OPT_SITE_URL,
	OPT_CULPRIT,
	OPT_ACKS,
	OPT_BASELINE,
	OPT_CORRECTION,
	OPT_MIN_SAMPLES,
	OPT_CONFIRM,
	OPT_IGNORE,
};

#define FILTERS_MAX 64

struct diff_options {
	struct tk_diff_range_spec range;
	const char *machine, *filters[FILTERS_MAX + 1], *ignored[FILTERS_MAX + 1];
	const char *output, *fail_on, *site_url, *acks, *baseline;
	char metric[80];
	size_t filter_count, ignored_count, limit, min_samples, confirm_nights;
	bool uncorrected;
	double threshold, abs_ns, alpha; /* NAN: as configured */
	bool only[TK_VERDICT_STATUS_COUNT], words_given, explain, culprit, allow_empty;
	enum tk_diff_sort sort;
	enum tk_diff_group group;
	const struct tk_diff_format *format;
};

static const struct argp_option options[] = {
        {0, 0, 0, 0, "Range (default: the last 7 days)", 1},
        {"base", OPT_BASE, "NIGHT", 0,
                "Check the nights after NIGHT: a number, date, revision, tag or run:ID", 1},
        {"baseline", OPT_BASELINE, "WHAT", 0,
                "Compare with the nights before the range (window), the first ones (first), the "
                "best level (best), pinned:REV or tag:NAME (default: as configured)",
                1},
        {"head", OPT_HEAD, "NIGHT", 0, "Check the nights up to NIGHT", 1},
        {"last", OPT_LAST, "N", 0, "Check the last N nights of each machine", 1},
        {"since", OPT_SINCE, "WHEN", 0,
                "Check the nights from WHEN on: 7d, 2026-11-21, yesterday, a revision, a tag or "
                "run:ID",
                1},
        {"until", OPT_UNTIL, "WHEN", 0, "Check the nights up to WHEN", 1},
        {0, 0, 0, 0, "Selection", 2},
        {"filter", OPT_FILTER, "KEY:GLOB", 0,
                "Show only series whose backend, problem, op, dtype, device, machine, upstream, "
                "metric, mode, config, role or series matches; may be repeated: other keys narrow, "
                "the same key widens",
                2},
        {"ignore", OPT_IGNORE, "KEY:GLOB", 0, "Leave these series out; may be repeated", 2},
        {"machine", OPT_MACHINE, "NAME", 0, "Show only this machine", 2},
        {"metric", OPT_METRIC, "NAME", 0, "Show only this metric", 2},
        {0, 0, 0, 0, "Decision (default: as configured)", 3},
        {"abs-threshold", OPT_ABS, "TIME", 0, "Ignore changes smaller than TIME: 500ns, 10us, 1ms",
                3},
        {"alpha", OPT_ALPHA, "RATE", 0,
                "Control the false-discovery rate over the series of a machine at RATE: 5% or 0.05",
                3},
        {"confirm", OPT_CONFIRM, "N", 0, "Report a change seen on fewer than N nights as unsure",
                3},
        {"correction", OPT_CORRECTION, "bh|none", 0,
                "Correct for many series by Benjamini-Hochberg over a machine (default), or not at "
                "all",
                3},
        {"min-samples", OPT_MIN_SAMPLES, "N", 0,
                "Report a change with fewer than N samples before or after it as unsure", 3},
        {"threshold", OPT_THRESHOLD, "PERCENT", 0,
                "Ignore changes smaller than PERCENT: 5% or 0.05", 3},
        {0, 0, 0, 0, "View", 4},
        {"all", OPT_ALL, 0, 0, "Show every series, not only the changed ones", 4},
        {"culprit", OPT_CULPRIT, 0, 0,
                "Also show the commits of every regression, and how to bisect them with git", 4},
        {"explain", OPT_EXPLAIN, 0, 0, "Show the numbers and reasons of each series in full", 4},
        {"group-by", OPT_GROUP, "machine|backend|upstream|kernel|commit", 0,
                "Print one table per group, with its geometric mean", 4},
        {"limit", OPT_LIMIT, "N", 0, "Show at most N series (default: 50 in text; 0: all)", 4},
        {"only", OPT_ONLY, "STATUS,...", 0, "Show only series with one of these statuses", 4},
        {"sort", OPT_SORT, "severity|pct|abs|name", 0, "Sort by this (default: severity)", 4},
        {0, 0, 0, 0, "Gate", 5},
        {"acks", OPT_ACKS, "FILE", 0,
                "Read accepted changes from FILE (default: as configured, acks.yml)", 5},
        {"allow-empty", OPT_ALLOW_EMPTY, 0, 0, "Exit with 0 even if nothing could be compared", 5},
        {"fail-on", OPT_FAIL_ON, "STATUS,...", 0,
                "Exit with 1 if a series has one of these statuses (default: as configured); none: "
                "never",
                5},
        {0, 0, 0, 0, "Output", 6},
        {"format", OPT_FORMAT, "text|json|ndjson|csv|md|github|sarif|junit", 0,
                "Print in this format (default: text)", 6},
        {"output", OPT_OUTPUT, "FILE", 0, "Write to FILE instead of the standard output", 6},
        {"site-url", OPT_SITE_URL, "URL", 0,
                "Link each series to its page of the dashboard at URL (default: site.url)", 6},
        {0},
};

/* The position of `arg` in "a|b|c". */
static int choice_arg(
        struct argp_state *state, const char *name, const char *arg, const char *choices)
{
	int i = 0;

	for (const char *p = choices; *p; p += strspn(p, "|"), i++) {
		size_t len = strcspn(p, "|");

		if (strlen(arg) == len && strncmp(arg, p, len) == 0)
			return i;
		p += len;
	}
	argp_error(state, "--%s=%s: expected one of %s", name, arg, choices);
	return 0;
}

/* "regressed,missing" -> flags. Returns the unknown status in `bad`, or NULL. */
static const char *parse_words(const char *text, bool flags[TK_VERDICT_STATUS_COUNT], char bad[64])
{
	memset(flags, 0, TK_VERDICT_STATUS_COUNT * sizeof *flags);
	if (strcmp(text, "none") == 0)
		return NULL;
	while (*text) {
		size_t len = strcspn(text, ",");
		enum tk_verdict_status s;

		snprintf(bad, 64, "%.*s", (int)(len > 60 ? 60 : len), text);
		if (tk_verdict_status_parse(bad, &s))
			return bad;
		flags[s] = true;
		text += len + (text[len] == ',');
	}
	return NULL;
}

static void words_arg(struct argp_state *state, const char *name, const char *arg,
        bool flags[TK_VERDICT_STATUS_COUNT])
{
	const char *known[TK_VERDICT_STATUS_COUNT + 1] = {0}, *near;
	char bad[64];

	if (!parse_words(arg, flags, bad))
		return;
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		known[i] = tk_verdict_status_name((enum tk_verdict_status)i);
	near = tk_suggest_name(bad, known);
	if (near)
		argp_error(state, "--%s: unknown status \"%s\"; did you mean \"%s\"?", name, bad,
		        near);
	argp_error(state,
	        "--%s: unknown status \"%s\"; expected regressed, newly-failed, missing, improved, "
	        "... (docs/reference/diff.md)",
	        name, bad);
}

static void filter_arg(struct argp_state *state, struct diff_options *o, const char *arg)
{
	if (o->filter_count == FILTERS_MAX)
		argp_error(state, "more than %d --filter options", FILTERS_MAX);
	o->filters[o->filter_count++] = arg;
}

static error_t parse_view(int key, char *arg, struct argp_state *state)
{
	struct diff_options *o = state->input;
	bool ignored[TK_VERDICT_STATUS_COUNT];

	switch (key) {
	case OPT_ONLY:
		words_arg(state, "only", arg, o->only);
		o->words_given = true;
		return 0;
	case OPT_ALL:
		for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
			o->only[i] = true;
		o->words_given = true;
		return 0;
	case OPT_SORT:
		o->sort =
		        (enum tk_diff_sort)choice_arg(state, "sort", arg, "severity|pct|abs|name");
		return 0;
	case OPT_GROUP:
		o->group =
		        (enum tk_diff_group)(1 + choice_arg(state, "group-by", arg,
		                                         "machine|backend|upstream|commit|kernel"));
		return 0;
	case OPT_LIMIT:
		o->limit = tk_option_parse_count(arg, "limit", state);
		return 0;
	case OPT_EXPLAIN:
		o->explain = true;
		return 0;
	case OPT_FAIL_ON:
		words_arg(state, "fail-on", arg, ignored);
		o->fail_on = arg;
		return 0;
	case OPT_ACKS:
		o->acks = arg;
		return 0;
	case OPT_ALLOW_EMPTY:
		o->allow_empty = true;
		return 0;
	case OPT_FORMAT:
		o->format = tk_diff_format_find(arg);
		if (!o->format)
			argp_error(state,
			        "--format=%s: expected one of text, json, ndjson, csv, md, github, "
			        "sarif, junit",
			        arg);
		return 0;
	case OPT_OUTPUT:
		o->output = arg;
		return 0;
	case OPT_CULPRIT:
		o->culprit = true;
		return 0;
	case OPT_SITE_URL:
		if (strncmp(arg, "https://", 8) != 0 && strncmp(arg, "http://", 7) != 0 &&
		        strncmp(arg, "file://", 7) != 0)
			argp_error(state,
			        "--site-url=%s: expected an address that begins with https://, "
			        "http:// or file://",
			        arg);
		o->site_url = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(
		        state, "unexpected argument \"%s\"; --filter=KEY:GLOB selects series", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct diff_options *o = state->input;

	switch (key) {
	case OPT_SINCE:
		o->range.since = arg;
		return 0;
	case OPT_UNTIL:
		o->range.until = arg;
		return 0;
	case OPT_BASE:
		o->range.base = arg;
		return 0;
	case OPT_HEAD:
		o->range.head = arg;
		return 0;
	case OPT_LAST:
		o->range.last = tk_option_parse_count(arg, "last", state);
		if (!o->range.last)
			argp_error(state, "--last=0: expected at least 1");
		return 0;
	case OPT_BASELINE:
		if (!tk_config_is_baseline(arg))
			argp_error(state,
			        "--baseline=%s: expected window, first, best, pinned:REV or "
			        "tag:NAME",
			        arg);
		o->baseline = arg;
		return 0;
	case OPT_IGNORE:
		if (o->ignored_count == FILTERS_MAX)
			argp_error(state, "more than %d --ignore options", FILTERS_MAX);
		o->ignored[o->ignored_count++] = arg;
		return 0;
	case OPT_CORRECTION:
		o->uncorrected = choice_arg(state, "correction", arg, "bh|none") == 1;
		return 0;
	case OPT_MIN_SAMPLES:
		o->min_samples = tk_option_parse_count(arg, "min-samples", state);
		return 0;
	case OPT_CONFIRM:
		o->confirm_nights = tk_option_parse_count(arg, "confirm", state);
		return 0;
	case OPT_FILTER:
		filter_arg(state, o, arg);
		return 0;
	case OPT_MACHINE:
		o->machine = arg;
		return 0;
	case OPT_METRIC:
		snprintf(o->metric, sizeof o->metric, "metric:%s", arg);
		filter_arg(state, o, o->metric);
		return 0;
	case OPT_THRESHOLD:
		o->threshold = tk_option_parse_quantity(
		        TK_QUANTITY_FRACTION, arg, "threshold", 0, 10, state);
		return 0;
	case OPT_ABS:
		o->abs_ns = 1e9 * tk_option_parse_quantity(
		                          TK_QUANTITY_TIME, arg, "abs-threshold", 0, 3600, state);
		return 0;
	case OPT_ALPHA:
		o->alpha =
		        tk_option_parse_quantity(TK_QUANTITY_FRACTION, arg, "alpha", 0, 1, state);
		return 0;
	}
	return parse_view(key, arg, state);
}

const struct argp tk_argp_diff = {options, parse_option, NULL,
        "Show what changed: compare every series of the range with the nights before it. A change "
        "must exceed the noise of its series; the false-discovery rate is controlled over all "
        "series of a machine, and changes of the machine itself are reported as `environment`.\v"
        "Every series is counted in the last line. The statuses are listed in "
        "docs/reference/diff.md.\n\n"
        "Exit code: 0 no status of --fail-on, 1 at least one, 2 usage or configuration, 3 nothing "
        "was compared.\n\n"
        "Examples:\n"
        "  tracker diff --since=7d\n"
        "  tracker diff --last=1 --filter=backend:openblas --explain\n"
        "  tracker diff --since=2026-11-01 --threshold=5% --fail-on=regressed,missing\n"
        "  tracker diff --format=json | jq '.rows[] | select(.status == \"regressed\") | "
        ".bad_rev'\n"
        "  tracker diff --format=github --site-url=https://example.org/perf/"};

static void decide_as_asked(const struct diff_options *o, struct tk_detect_options *d)
{
	d->min_effect = isnan(o->threshold) ? d->min_effect : o->threshold;
	d->min_effect_ns = isnan(o->abs_ns) ? d->min_effect_ns : o->abs_ns;
	d->fdr = isnan(o->alpha) ? d->fdr : o->alpha;
	d->uncorrected = o->uncorrected;
	d->min_samples = (uint32_t)(o->min_samples < UINT32_MAX ? o->min_samples : UINT32_MAX);
	d->confirm_nights =
	        (uint32_t)(o->confirm_nights < UINT32_MAX ? o->confirm_nights : UINT32_MAX);
}

static void gate(const struct diff_options *o, const struct tk_config *c,
        bool flags[TK_VERDICT_STATUS_COUNT])
{
	char bad[64];

	memset(flags, 0, TK_VERDICT_STATUS_COUNT * sizeof *flags);
	if (o->fail_on) {
		parse_words(o->fail_on, flags, bad);
		return;
	}
	for (char *const *word = c->fail_on; word && *word; word++) {
		enum tk_verdict_status s;

		if (tk_verdict_status_parse(*word, &s) == TK_OK) /* "none" is not a status */
			flags[s] = true;
	}
}

/* A file is written completely or not at all. */
static int write_out(
        const struct diff_options *o, const struct tk_diff_view *v, struct tk_error *err)
{
	char *data = NULL;
	size_t size = 0;
	FILE *f;
	int status;

	if (!o->output) {
		status = o->format->write(v, stdout, err);
		return status || fflush(stdout) == 0 ? status
		                                     : tk_fail_errno(err, "cannot write to stdout");
	}
	f = open_memstream(&data, &size);
	if (!f)
		return tk_fail_errno(err, "cannot write %s", o->output);
	status = o->format->write(v, f, err);
	if (fclose(f) && !status)
		status = tk_fail_errno(err, "cannot write %s", o->output);
	if (!status)
		status = tk_file_write(o->output, data, size, err);
	free(data);
	return status;
}

static int show(const struct tk_globals *g, const struct diff_options *o, const struct tk_config *c,
        const struct tk_diff_report *report, int *code, struct tk_error *err)
{
	struct tk_diff_view v = {.globals = g,
	        .report = report,
	        .limit = o->limit,
	        .explicit_statuses = o->words_given,
	        .explain = o->explain,
	        .sort = o->sort,
	        .group = o->group,
	        .site_url = o->site_url ? o->site_url : c->site_url,
	        .culprit_config = o->culprit ? c : NULL};
	gate(o, c, v.fail_on);
	memcpy(v.chosen, o->only, sizeof v.chosen);
	if (v.limit == SIZE_MAX)
		v.limit = o->format->everything ? 0 : 50;
	int status = tk_diff_view_init(&v, o->format->everything, err);

	if (!status)
		status = write_out(o, &v, err);
	*code = tk_diff_has_fail_on(&v)              ? TK_EXIT_FOUND
	        : report->compared || o->allow_empty ? TK_EXIT_OK
	                                             : TK_EXIT_INCOMPLETE;
	tk_diff_view_free(&v);
	return status;
}

/* Was analysed when it ended: show the stored verdicts. */
static bool is_newest_night(const struct diff_options *o, const struct tk_detect_options *d)
{
	return o->range.last == 1 && !o->range.until && d->baseline == TK_BASELINE_WINDOW;
}

int tk_cmd_diff(const struct tk_globals *g, int argc, char **argv)
{
	struct diff_options o = {.threshold = NAN,
	        .abs_ns = NAN,
	        .alpha = NAN,
	        .limit = SIZE_MAX,
	        .format = tk_diff_formats};
	struct tk_diff_range range = {0};
	struct tk_diff_report report = {0};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_detect_policy policy = {0};
	struct tk_diff_baseline baseline = {0};
	struct tk_error err = {0};
	int status, code;

	tk_command_parse(&tk_argp_diff, argc, argv, &o);
	code = tk_command_open(g, "diff", TK_STORE_READ, &config, &store);
	if (code)
		return code;
	status = tk_detect_policy_load(config, o.acks, &policy, &err);
	decide_as_asked(&o, &policy.options);
	if (!status)
		status = tk_diff_range_resolve(
		        store, config, &o.range, o.machine, policy.options.now_s, &range, &err);
	if (!status)
		status = tk_diff_baseline_resolve(store, config,
		        o.baseline ? o.baseline : config->thresholds.baseline, &baseline,
		        &policy.options, &err);
	range.machine = o.machine;
	range.filters = o.filter_count ? o.filters : NULL;
	range.ignored = o.ignored_count ? o.ignored : NULL;
	if (!status)
		status = (is_newest_night(&o, &policy.options)
		                  ? tk_detect_latest_nights
		                  : tk_detect_diff)(store, &policy.options, &range, &report, &err);
	if (!status)
		status = show(g, &o, config, &report, &code, &err);
	if (status)
		code = tk_command_fail("diff", &err);
	tk_diff_report_free(&report);
	tk_detect_policy_free(&policy);
	tk_diff_baseline_free(&baseline);
	tk_command_close(config, store);
	return code;
}
