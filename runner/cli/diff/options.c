#include "cli/diff/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "config/config.h"

enum diff_option {
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
	OPT_FIRST_BAD,
	OPT_ACKS,
	OPT_BASELINE,
	OPT_CORRECTION,
	OPT_MIN_SAMPLES,
	OPT_CONFIRM,
	OPT_IGNORE,
};

#define CORRECTIONS "bh|none"
#define GROUPS "machine|backend|upstream|commit|kernel" /* in the order of tk_diff_group */
#define SORTS "severity|pct|abs|name"                   /* in the order of tk_diff_sort */
#define FIRST_WORD(name, ...) name
#define NEXT_WORD(name, ...) "|" name
#define FORMATS TK_DIFF_FORMATS(FIRST_WORD, NEXT_WORD)

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
        {"correction", OPT_CORRECTION, CORRECTIONS, 0,
                "Correct for many series by Benjamini-Hochberg over a machine (default), or not at "
                "all",
                3},
        {"min-samples", OPT_MIN_SAMPLES, "N", 0,
                "Report a change with fewer than N samples before or after it as unsure", 3},
        {"threshold", OPT_THRESHOLD, "PERCENT", 0,
                "Ignore changes smaller than PERCENT: 5% or 0.05", 3},
        {0, 0, 0, 0, "View", 4},
        {"all", OPT_ALL, 0, 0, "Show every series, not only the changed ones", 4},
        {"explain", OPT_EXPLAIN, 0, 0, "Show the numbers and reasons of each series in full", 4},
        {"first-bad", OPT_FIRST_BAD, 0, 0,
                "Also show the commits of every regression, and how to bisect them with git", 4},
        {"culprit", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 4},
        {"group-by", OPT_GROUP, GROUPS, 0, "Print one table per group, with its geometric mean", 4},
        {"limit", OPT_LIMIT, "N", 0, "Show at most N series (default: 50 in text; 0: all)", 4},
        {"only", OPT_ONLY, "STATUS,...", 0, "Show only series with one of these statuses", 4},
        {"sort", OPT_SORT, SORTS, 0, "Sort by this (default: severity)", 4},
        {0, 0, 0, 0, "Gate", 5},
        {"acks", OPT_ACKS, "FILE", 0,
                "Read accepted changes from FILE (default: as configured, acks.yml)", 5},
        {"allow-empty", OPT_ALLOW_EMPTY, 0, 0, "Exit with 0 even if nothing could be compared", 5},
        {"fail-on", OPT_FAIL_ON, "STATUS,...", 0,
                "Exit with 1 if a series has one of these statuses (default: as configured); none: "
                "never",
                5},
        {0, 0, 0, 0, "Output", 6},
        {"format", OPT_FORMAT, FORMATS, 0, "Print in this format (default: text)", 6},
        {"output", OPT_OUTPUT, "FILE", 0, "Write to FILE instead of the standard output", 6},
        {"site-url", OPT_SITE_URL, "URL", 0,
                "Link each series to its page of the dashboard at URL (default: site.url)", 6},
        {0},
};

const char *tk_diff_parse_statuses(
        const char *text, bool flags[TK_VERDICT_STATUS_COUNT], char bad[64])
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

static void statuses_arg(struct argp_state *state, const char *name, const char *arg,
        bool flags[TK_VERDICT_STATUS_COUNT])
{
	const char *known[TK_VERDICT_STATUS_COUNT + 1] = {0};
	char bad[64], hint[TK_SUGGEST_HINT_SIZE];

	if (!*arg) /* an unset variable of a script, which would never fail */
		argp_error(state, "--%s=: expected a list of statuses, or none", name);
	if (!tk_diff_parse_statuses(arg, flags, bad))
		return;
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		known[i] = tk_verdict_status_name((enum tk_verdict_status)i);
	argp_error(state, "--%s: unknown status \"%s\"%s", name, bad,
	        tk_suggest_hint(bad, known,
	                "; expected regressed, newly-failed, missing, improved, ... "
	                "(docs/reference/diff.md)",
	                hint));
}

static void filter_arg(struct argp_state *state, struct tk_diff_options *o, const char *arg)
{
	if (o->filter_count == TK_DIFF_FILTERS_MAX)
		argp_error(state, "more than %d --filter options", TK_DIFF_FILTERS_MAX);
	o->filters[o->filter_count++] = arg;
}

static error_t parse_view(int key, char *arg, struct argp_state *state)
{
	struct tk_diff_options *o = state->input;
	bool ignored[TK_VERDICT_STATUS_COUNT];

	switch (key) {
	case OPT_ONLY:
		statuses_arg(state, "only", arg, o->chosen);
		o->statuses_given = true;
		return 0;
	case OPT_ALL:
		for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
			o->chosen[i] = true;
		o->statuses_given = true;
		return 0;
	case OPT_SORT:
		o->sort = (enum tk_diff_sort)tk_option_parse_choice(arg, "sort", SORTS, state);
		return 0;
	case OPT_GROUP:
		o->group = (enum tk_diff_group)(
		        1 + tk_option_parse_choice(arg, "group-by", GROUPS, state));
		return 0;
	case OPT_LIMIT:
		o->limit = tk_option_parse_count(arg, "limit", state);
		return 0;
	case OPT_EXPLAIN:
		o->explain = true;
		return 0;
	case OPT_FAIL_ON:
		statuses_arg(state, "fail-on", arg, ignored);
		o->fail_on = arg;
		return 0;
	case OPT_ACKS:
		o->acks = arg;
		return 0;
	case OPT_ALLOW_EMPTY:
		o->allow_empty = true;
		return 0;
	case OPT_FORMAT:
		tk_option_parse_choice(arg, "format", FORMATS, state);
		o->format = tk_diff_format_find(arg);
		return 0;
	case OPT_OUTPUT:
		o->output = arg;
		return 0;
	case OPT_FIRST_BAD:
		o->first_bad = true;
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
	struct tk_diff_options *o = state->input;
	char hint[TK_SUGGEST_HINT_SIZE];

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
			        "tag:NAME%s",
			        arg, tk_suggest_hint(arg, tk_config_baselines, "", hint));
		o->baseline = arg;
		return 0;
	case OPT_IGNORE:
		if (o->ignored_count == TK_DIFF_FILTERS_MAX)
			argp_error(state, "more than %d --ignore options", TK_DIFF_FILTERS_MAX);
		o->ignored[o->ignored_count++] = arg;
		return 0;
	case OPT_CORRECTION:
		o->uncorrected = tk_option_parse_choice(arg, "correction", CORRECTIONS, state) == 1;
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
