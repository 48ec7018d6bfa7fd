/* `tracker show`: one series or one run in full. This file finds out which one is meant. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/try.h"
#include "cli/history/show.h"
#include "cli/options.h"
#include "core/problem.h"
#include "store/store.h"

static struct tk_show_options opt = {.limit = 20};

static const struct tk_option options[] = {
        {TK_OPT_JSON(&opt.json, "Print text (default) or JSON")},
        {TK_OPT_COUNT("limit", 'n', "N", 0, 1e9, &opt.limit,
                "Show at most the N newest points of a series (default: 20; 0: all)")},
        {TK_OPT_FLAG("samples", 0, &opt.samples, "Also show every raw sample of a run")},
        {TK_OPT_ARGUMENT(&opt.what, "missing SERIES or RUN")},
        {0},
};

/* Fills `found` with the series named `text`, else with those that match the pattern or start with
 * it. */
static size_t find_series(
        const struct tk_lookup *l, const char *text, const struct tk_series_row **found)
{
	bool pattern = strpbrk(text, "*?[") != NULL;
	size_t count = 0;

	for (size_t i = 0; i < l->series.rows.count; i++) {
		const struct tk_series_row *series =
		        TK_ROWS_AT(&l->series.rows, struct tk_series_row, i);

		if (!strcmp(series->slug, text)) {
			found[0] = series;
			return 1;
		}
		if (pattern ? !fnmatch(text, series->slug, 0)
		            : !strncmp(series->slug, text, strlen(text)))
			found[count++] = series;
	}
	return count;
}

/* Looser matches: a part of the name or title, or the problem as suites spell it. */
static size_t find_loosely(
        const struct tk_lookup *l, const char *text, const struct tk_series_row **found)
{
	struct tk_problem_spec *spec = tk_calloc(1, sizeof *spec);
	const char *canonical = spec && !tk_problem_parse(spec, text, NULL) ? spec->text : NULL;
	size_t count = 0;

	for (size_t i = 0; i < l->series.rows.count; i++) {
		const struct tk_series_row *series =
		        TK_ROWS_AT(&l->series.rows, struct tk_series_row, i);
		const struct tk_problem_row *problem = tk_lookup_problem(l, series->problem_id);

		if (canonical ? problem && !strcmp(problem->text, canonical)
		              : strcasestr(series->slug, text) ||
		                        (problem && strcasestr(problem->title, text)))
			found[count++] = series;
	}
	free(spec);
	return count;
}

static int by_slug(const void *a, const void *b)
{
	return strcmp((*(const struct tk_series_row *const *)a)->slug,
	        (*(const struct tk_series_row *const *)b)->slug);
}

static int fail_unknown(const struct tk_lookup *l, const char *text, struct tk_error *err)
{
	const char **names = tk_calloc(l->series.rows.count + 1, sizeof *names);
	char hint[TK_SUGGEST_HINT_SIZE] = "";

	for (size_t i = 0; names && i < l->series.rows.count; i++)
		names[i] = TK_ROWS_AT(&l->series.rows, struct tk_series_row, i)->slug;
	if (names)
		tk_suggest_hint(text, names, "; `tracker show '*'` lists the series", hint);
	free(names);
	return tk_fail(err, TK_EUSAGE, "no series or run matches \"%s\"%s", text, hint);
}

static int show_found(struct tk_store *s, const struct tk_globals *g,
        const struct tk_show_options *o, const struct tk_lookup *l,
        const struct tk_series_row **found, size_t count, struct tk_error *err)
{
	if (!count)
		count = find_loosely(l, o->what, found);
	qsort(found, count, sizeof(*found), by_slug);
	if (!count)
		return fail_unknown(l, o->what, err);
	return count == 1 ? tk_show_series(s, g, o, l, found[0], err)
	                  : tk_show_series_list(s, g, o, l, found, count, err);
}

static int show_named(struct tk_store *s, const struct tk_globals *g,
        const struct tk_show_options *o, const struct tk_lookup *l,
        const struct tk_series_row **found, size_t count, struct tk_error *err)
{
	struct tk_rows runs;
	int status;

	if (count == 1 && !strcmp(found[0]->slug, o->what))
		return tk_show_series(s, g, o, l, found[0], err);
	TRY(tk_store_find_runs(s, o->what, &runs, err));
	if (runs.count == 1)
		status = tk_show_run(s, o, l, TK_ROWS_AT(&runs, struct tk_run_row, 0), err);
	else if (runs.count > 1 && !count)
		status = tk_fail(
		        err, TK_EUSAGE, "\"%s\" is ambiguous: several runs start with it", o->what);
	else
		status = show_found(s, g, o, l, found, count, err);
	tk_rows_free(&runs);
	return status;
}

static int run_show(struct tk_globals *g, struct tk_error *err)
{
	AUTO(tk_lookup) lookup = {0};
	const struct tk_series_row **found;
	int status;

	TRY(tk_lookup_load(g->store, &lookup, err));
	found = tk_calloc(lookup.series.rows.count + 1, sizeof *found);
	status = show_named(
	        g->store, g, &opt, &lookup, found, find_series(&lookup, opt.what, found), err);
	free(found);
	return status;
}

const struct tk_command tk_command_show = {.name = "show",
        .summary = "show one series or one run in full",
        .usage = {.options = options,
                .arguments = "SERIES|RUN",
                .surplus = "expected one series or run",
                .help = "Show one series or one run in full.\v"
                        "SERIES is a name, a part of one, a pattern ('*gemm*cold') or a problem "
                        "(gemm:m=512,n=512,k=512); several matches are listed. RUN is the number "
                        "of a run or the first digits of its id.\n\n"
                        "Examples:\n"
                        "  tracker show '*'\n"
                        "  tracker show '*gemm*512*' --limit=5\n"
                        "  tracker show 42 --samples\n"
                        "  tracker show 42 --format=json | jq .attributes.verify"},
        .opens = TK_OPENS_READ,
        .run = run_show};
