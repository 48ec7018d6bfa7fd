/* `tracker backfill`: a night for each past revision. `tracker revisions` lists them. */
#include "base/process.h"
#include "build/build.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/host/survey.h"
#include "cli/night/night_report.h"
#include "cli/table.h"
#include "config/config.h"
#include "core/fields.h"
#include "nightly/past.h"
#include "store/store.h"
#include <math.h>

/* ---- what both print ------------------------------------------------------------------------- */

static json_t *past_json(const struct tk_past_list *list, const struct tk_past *p)
{
	const struct tk_revision *r = &p->revision;
	const char *same = p->state == TK_PAST_SAME_CODE ? list->items[p->same_as].revision.id : "";
	return json_pack("{s:s,s:s,s:I,s:o,s:o,s:o,s:s,s:o,s:o,s:s,s:o}", "upstream",
	        p->upstream->name, "revision", r->id, "position", (json_int_t)r->position,
	        "committed", tk_time_to_json(r->commit_time_s), "author", tk_json_text(r->author),
	        "subject", tk_json_text(r->subject), "state", tk_past_state_words[p->state],
	        "same_code_as", tk_json_text(same), "touches", tk_json_text(p->touched), "built",
	        p->build_failed ? "failed"
	        : *p->code      ? "yes"
	                        : "no",
	        "code_hash", tk_json_text(p->code));
}

static const struct tk_column past_columns[] = {
        {"UPSTREAM", TK_COLUMN_VARIED, "upstream"},
        {"POSITION", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1), "position"},
        {"REVISION", 0, "revision", TK_SHOW_SHORT},
        {"COMMITTED", 0, "committed", TK_SHOW_DAY},
        {"STATE", 0, "{state}[ as {same_code_as:short}]"},
        {"BUILT", TK_COLUMN_DROP(2), "built"},
        {"TOUCHES", TK_COLUMN_OPTIONAL | TK_COLUMN_CUT, "touches"},
        {"SUBJECT", TK_COLUMN_SHORTEN, "subject"},
        {0},
};

static json_t *list_json(const struct tk_past_list *list, bool newest_first)
{
	json_t *rows = json_array();
	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(rows,
		        past_json(list, &list->items[newest_first ? list->count - 1 - i : i]));
	return rows;
}

/* Reads the list without building: what the cache has tells which have equal code. */
static int read_list(const struct tk_globals *g, const struct tk_backfill_options *request,
        struct tk_past_list *list, struct tk_error *err)
{
	TRY(tk_past_list_read(g->config, g->store, request, list, err));
	for (size_t i = 0; i < list->count; i++) {
		AUTO_PTR(tk_artifact) a = NULL;
		struct tk_past *p = &list->items[i];
		struct tk_error why = {0};
		if (p->state == TK_PAST_OPEN && tk_past_load_build(g->config, p, request->arch,
		                                        false, &a, &why) == TK_ECANCELED)
			return tk_fail(err, TK_ECANCELED, "%s", why.message);
	}
	if (!request->same_code)
		tk_past_list_mark_same(list);
	return TK_OK;
}

/* The history for reading, where there is one. */
static int open_for_reading(struct tk_globals *g, struct tk_error *err)
{
	TRY(tk_command_open(g, TK_OPENS_CONFIG, err));
	return tk_file_exists(g->db_path ? g->db_path : g->config->db)
	               ? tk_command_open(g, TK_OPENS_READ, err)
	               : TK_OK;
}

/* ---- tracker backfill ------------------------------------------------------------------------ */

static struct {
	const char *since, *until, *tags, *export_file, *arch;
	struct tk_option_list upstreams, import_files;
	size_t commits, every;
	int64_t every_s;
	bool same_code, ends_first, no_site, dry_run, json;
} b;

static int parse_every(const char *text, void *to, struct tk_error *err)
{
	double seconds;
	char *end;
	(void)to;
	const unsigned long n = strtoul(text, &end, 10);
	if (end != text && !*end && n >= 1 && n <= 1000000 && *text != '-') {
		b.every = n;
		return TK_OK;
	}
	if (tk_units_parse(TK_QUANTITY_DURATION, text, 1, 1e9, &seconds, err))
		return tk_fail(err, TK_EUSAGE, "expected a number, or a duration such as 7d");
	b.every_s = (int64_t)seconds;
	return TK_OK;
}

static const struct tk_option backfill_options[] = {
        {TK_OPT_HEADING("Which revisions")},
        {TK_OPT_COUNT("commits", 0, "N", 1, 1e6, &b.commits,
                "At most the newest N of each upstream (default: 10; with --since or --tags: "
                "all)")},
        {TK_OPT_FLAG("ends-first", 0, &b.ends_first,
                "Measure the first and the last, then the middle of each range whose ends "
                "differ; leave out the others")},
        {TK_OPT_PARSED("every", 0, "K", parse_every, NULL,
                "Only every K-th, or with a duration (7d) one in so much time")},
        {TK_OPT_FLAG("same-code", 0, &b.same_code,
                "Also those with the same machine code as the one before")},
        {TK_OPT_TEXT("since", 's', "TIME", &b.since,
                "Only those since TIME (30d, 2026-08-01), or from a revision on (v2.5.0)")},
        {TK_OPT_TEXT("tags", 0, "PATTERN", &b.tags,
                "Only those with a tag like PATTERN ('v*'); of a package: versions like it")},
        {TK_OPT_TEXT("until", 0, "TIME", &b.until, "Only those until TIME, or up to a revision")},
        {TK_OPT_HEADING("Builds of another machine")},
        {TK_OPT_TEXT("arch", 0, "ARCH", &b.arch,
                 "With --export: build for ARCH, as `tracker build --arch` (native, sm_90a, "
                 "gfx942)"),
                .needs = "export"},
        {TK_OPT_TEXT("export", 0, "FILE", &b.export_file,
                 "Build these revisions, measure nothing, and pack them into FILE (.tar.zst) "
                 "for another machine"),
                .excludes = "import same-code ends-first dry-run"},
        {TK_OPT_LIST("import", 0, "FILE", &b.import_files,
                 "Measure the revisions in FILE, of all upstreams where none is named; needs "
                 "neither the repository nor a compiler. May be repeated"),
                .excludes = "commits every since until tags"},
        {TK_OPT_HEADING("Output")},
        {TK_OPT_FLAG("dry-run", 0, &b.dry_run,
                "List the revisions and what measuring them would take; build and measure "
                "nothing")},
        {TK_OPT_JSON(&b.json, "With --dry-run: print a table (default) or JSON"),
                .needs = "dry-run"},
        {TK_OPT_FLAG("no-site", 0, &b.no_site, "Do not write the site")},
        {TK_OPT_ARGUMENTS(&b.upstreams, NULL)},
        {0},
};

static int check_backfill(struct tk_error *err)
{
	return b.upstreams.count || b.import_files.count
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE,
	                         "missing UPSTREAM; expected one of `upstreams` in tracker.yml");
}

static const char *name_upstreams(void)
{
	return b.upstreams.count == 1 ? b.upstreams.items[0]
	       : b.upstreams.count    ? "several upstreams"
	                              : "all upstreams";
}

static int build_only(
        const struct tk_globals *g, const struct tk_backfill_options *request, struct tk_error *err)
{
	struct tk_backfill_build_report built;
	char partial[48] = "";

	TRY(tk_backfill_export(g->config, request, b.export_file, &built, err));
	if (built.partial)
		snprintf(partial, sizeof partial, ", %zu without all kernels", built.partial);
	printf("backfill: packed %zu of %zu revision%s of %s into %s (%zu from the cache, %zu "
	       "failed%s)\n",
	        built.built, built.revisions, built.revisions == 1 ? "" : "s", name_upstreams(),
	        b.export_file, built.cached, built.failed, partial);
	return built.failed || built.partial ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;
}

static int measure(
        const struct tk_globals *g, const struct tk_backfill_options *request, struct tk_error *err)
{
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_publisher publisher = {
	        .arg = g->config, .publish = tk_night_report_publish};
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .publisher = b.no_site ? NULL : &publisher};
	struct tk_night_report report;
	const char *names = name_upstreams();
	char left_out[200] = "";
	int status = tk_backfill_run(g->config, g->store, &night, request, &report, err);

	tk_progress_free(progress);
	if (status == TK_ECANCELED || status == TK_ENOSPC || status == TK_EBUSY)
		tk_fail(err, status, "%s; finished nights are kept, the same command continues",
		        status == TK_ECANCELED ? "stopped" : err->message);
	if (status)
		return status;
	if (report.same_code)
		snprintf(left_out, sizeof left_out,
		        "; %zu more with the same machine code as the one before",
		        report.same_code);
	if (report.between_equal)
		snprintf(left_out + strlen(left_out), sizeof left_out - strlen(left_out),
		        "; %zu left out between revisions that do not differ",
		        report.between_equal);
	if (!report.nights) {
		printf("%s: nothing left to measure%s\n", names, left_out);
		return TK_EXIT_OK;
	}
	printf("backfill: %zu revision%s of %s%s\n", report.nights, report.nights == 1 ? "" : "s",
	        names, left_out);
	tk_night_report_print(g->store, &report);
	return tk_night_report_exit_code(&report, NULL);
}

/* ---- --dry-run ---- */

struct cost {
	size_t builds, nights;
	double build_s, night_s; /* of all of them; NAN: not known of one */
};

static int add_costs(const struct tk_globals *g, const struct tk_past_list *list, struct cost *cost,
        struct tk_error *err)
{
	const struct tk_upstream_config *last = NULL;
	struct tk_past_cost each = {0};
	for (size_t i = 0; i < list->count; i++) {
		const struct tk_past *p = &list->items[i];
		const bool is_built = *p->code || p->build_failed || *p->key;
		if (p->state != TK_PAST_OPEN)
			continue;
		if (p->upstream != last)
			TRY(tk_past_estimate(
			        g->store, g->config->machine, p->upstream->name, &each, err));
		last = p->upstream;
		cost->nights++;
		cost->night_s += each.night_s;
		cost->builds += !is_built;
		cost->build_s += is_built ? 0 : each.build_s;
	}
	return TK_OK;
}

/* "about 3 min", or why not. */
static const char *format_cost(double seconds, char out[64])
{
	char took[48];
	snprintf(out, 64, "%s%s", isnan(seconds) ? "time unknown, none before" : "about ",
	        isnan(seconds) ? "" : tk_duration_format(seconds, took, sizeof took));
	return out;
}

static int print_plan(const struct tk_globals *g, const struct tk_backfill_options *request,
        bool as_json, struct tk_error *err)
{
	struct tk_past_list list = {0};
	struct cost cost = {0};
	char builds[64], nights[64];
	int status = read_list(g, request, &list, err);
	for (size_t i = 0; request->newest && i < list.count; i++)
		list.items[i].state = TK_PAST_OPEN;
	if (!status)
		status = add_costs(g, &list, &cost, err);
	json_t *rows = list_json(&list, false);
	if (status) {
		json_decref(rows);
	} else if (as_json) {
		status = tk_command_print_json(
		        json_pack("{s:o,s:{s:I,s:o,s:I,s:o}}", "revisions", rows, "cost", "builds",
		                (json_int_t)cost.builds, "build_s", tk_json_number(cost.build_s),
		                "nights", (json_int_t)cost.nights, "night_s",
		                tk_json_number(cost.night_s)),
		        err);
	} else {
		status = tk_records_print(g, past_columns, rows, false, err);
		printf("%zu of %zu revisions to measure: %zu build%s (%s), %zu %s%s (%s)\n",
		        cost.nights, list.count, cost.builds, cost.builds == 1 ? "" : "s",
		        format_cost(cost.build_s, builds), cost.nights,
		        !request->newest   ? "night"
		        : request->commits ? "upstream"
		                           : "revision",
		        cost.nights == 1 ? "" : "s", format_cost(cost.night_s, nights));
	}
	tk_past_list_free(&list);
	return status;
}

int tk_night_plan_print_range(struct tk_globals *g, const char *upstream, const char *from,
        const char *to, struct tk_error *err)
{
	char *names[] = {(char *)upstream, NULL};
	const struct tk_backfill_options request = {
	        .upstreams = names, .since_rev = from, .until_rev = to, .newest = true};
	return print_plan(g, &request, false, err);
}

int tk_night_plan_print_newest(struct tk_globals *g, const char *upstream, struct tk_error *err)
{
	TRY(open_for_reading(g, err));
	TRY(tk_survey_apply_defaults(g, &g->config, err));
	char **names = tk_calloc(g->config->upstream_count + 2, sizeof *names);
	const struct tk_backfill_options request = {
	        .upstreams = names, .commits = 1, .same_code = true, .newest = true};
	size_t n = 0;
	for (size_t i = 0; i < g->config->upstream_count; i++) {
		const struct tk_upstream_config *u = &g->config->upstreams[i];
		if (upstream ? !strcmp(u->name, upstream)
		             : u->enabled && tk_upstream_kind_is_built(u->kind))
			names[n++] = u->name;
	}
	if (upstream && !n)
		names[n++] = (char *)upstream; /* unknown: a message says so */
	const int status = print_plan(g, &request, false, err);
	free(names);
	return status;
}

/* A bound that is no time names a revision. */
static void parse_bound(const char *text, bool end_of_day, int64_t *time_s, const char **rev)
{
	struct tk_error ignored;
	if (text && tk_when_parse(text, tk_clock_now_s(), end_of_day, time_s, &ignored))
		*rev = text;
}

static int run_backfill(struct tk_globals *g, struct tk_error *err)
{
	struct tk_backfill_options request = {.upstreams = b.upstreams.items,
	        .import_files = b.import_files.items,
	        .commits = b.commits           ? b.commits
	                   : b.since || b.tags ? 0
	                                       : 10,
	        .every = b.every,
	        .every_s = b.every_s,
	        .tags = b.tags,
	        .same_code = b.same_code,
	        .ends_first = b.ends_first,
	        .arch = b.arch};

	parse_bound(b.since, false, &request.since_s, &request.since_rev);
	parse_bound(b.until, true, &request.until_s, &request.until_rev);
	if (b.dry_run)
		TRY(open_for_reading(g, err));
	else /* building needs no history */
		TRY(tk_command_open(g, b.export_file ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	TRY(tk_survey_apply_defaults(g, &g->config, err));
	tk_cancel_install_handlers();
	return b.dry_run       ? print_plan(g, &request, b.json, err)
	       : b.export_file ? build_only(g, &request, err)
	                       : measure(g, &request, err);
}

const struct tk_command tk_command_backfill = {.name = "backfill",
        .summary = "measure past revisions of upstreams",
        .usage = {.options = backfill_options,
                .arguments = "UPSTREAM...",
                .check = check_backfill,
                .help = "Measure past revisions of upstreams, oldest first. Each is a night of "
                        "its own, dated by its commit.\v"
                        "Revisions that this machine has measured are skipped, so a stopped "
                        "backfill continues when it is run again. All others are built first: "
                        "one with the machine code of the one before is left out. Revisions "
                        "that do not build are left out of --export and named on stderr (exit "
                        "code 3).\n\n"
                        "Examples:\n"
                        "  tracker backfill self --commits=10\n"
                        "  tracker backfill openblas-develop --since=90d --every=7d --dry-run\n"
                        "  tracker backfill cutlass --tags='v3.*' --since=v3.4.0\n"
                        "  tracker backfill cutlass --since=1y --ends-first\n"
                        "  tracker backfill self --arch=sm_90a --export=past.tar.zst    # on the "
                        "build host\n"
                        "  tracker backfill --import=past.tar.zst                       # on the "
                        "machine that measures"},
        .run = run_backfill};

/* ---- tracker revisions ----------------------------------------------------------------------- */

static struct {
	const char *upstream, *since, *until;
	size_t limit;
	bool json;
} r = {.limit = 20};

static const struct tk_option revisions_options[] = {
        {TK_OPT_JSON(&r.json, "Print a table (default) or JSON")},
        {TK_OPT_COUNT("limit", 'n', "N", 0, 1e9, &r.limit,
                "List at most the newest N (default: 20; 0: all)")},
        {TK_OPT_TEXT("since", 's', "TIME", &r.since,
                "List only those since TIME (30d, 2026-08-01), or from a revision on")},
        {TK_OPT_TEXT(
                "until", 0, "TIME", &r.until, "List only those until TIME, or up to a revision")},
        {TK_OPT_ARGUMENT(
                &r.upstream, "missing UPSTREAM; expected one of `upstreams` in tracker.yml")},
        {0},
};

static int run_revisions(struct tk_globals *g, struct tk_error *err)
{
	char *names[] = {(char *)r.upstream, NULL};
	struct tk_past_list list = {0};
	struct tk_backfill_options request = {
	        .upstreams = names, .commits = r.limit, .with_outside = true};

	parse_bound(r.since, false, &request.since_s, &request.since_rev);
	parse_bound(r.until, true, &request.until_s, &request.until_rev);
	TRY(open_for_reading(g, err));
	TRY(tk_survey_apply_defaults(g, &g->config, err));
	tk_cancel_install_handlers();
	int status = read_list(g, &request, &list, err);
	if (!status)
		status = tk_records_print(g, past_columns, list_json(&list, true), r.json, err);
	tk_past_list_free(&list);
	return status;
}

const struct tk_command tk_command_revisions = {.name = "revisions",
        .summary = "list the revisions of an upstream, which count and why",
        .usage = {.options = revisions_options,
                .arguments = "UPSTREAM",
                .surplus = "expected one UPSTREAM",
                .help = "List the revisions of UPSTREAM, newest first: whether each counts, is "
                        "measured by this machine, or is built.\v"
                        "STATE is `open` (a backfill would measure it), `measured`, `same code` "
                        "as an earlier one (both are built, or it changes no file that a build "
                        "read), or `outside of path`: it touches nothing of the upstream's "
                        "`path`, and never counts. TOUCHES names the parts of `path`; without "
                        "one, a file that it changes and the nearest build read. Nothing is "
                        "built.\n\n"
                        "Examples:\n"
                        "  tracker revisions cutlass --since=90d\n"
                        "  tracker revisions openblas-develop --format=json | jq length"},
        .run = run_revisions};
