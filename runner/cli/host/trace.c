/* `tracker trace`: where the time goes inside a kernel. */
#include <math.h>
#include <unistd.h>

#include "base/process.h"
#include "cli/host/run.h"
#include "core/kernel_report.h"
#include "core/problem.h"
#include "nightly/compare/ab_compare.h"
#include "nightly/nightly.h"
#include "nightly/trace/recorded_run.h"
#include "profile/trace.h"

#define RUNS 3
#define MULTIPROCESSORS 8
#define SECONDS 0.2
#define CLOCK_MAX_MHZ 100000

static struct {
	struct tk_run_options run;
	const char *base, *base_config, *head, *out_path, *proton_path;
	double clock_mhz;                       /* of --import-proton; 0: as measured */
	double runs, launches, multiprocessors; /* runs, launches: negative: not given */
} opt = {
        .run = TK_RUN_OPTIONS_NONE, .runs = -1, .launches = -1, .multiprocessors = MULTIPROCESSORS};

static const struct tk_option options[] = {
        {TK_OPT_HEADING("What")},
        {TK_OPT_TEXT("base", 0, "BACKEND", &opt.base,
                "Compare with this backend or shared object, region by region; with --head, "
                "with this revision")},
        {TK_OPT_TEXT("base-config", 0, "NAME", &opt.base_config,
                "Configuration of the base (default: the one that BACKEND has); without "
                "--base, the base is BACKEND")},
        {TK_OPT_TEXT("config-of-backend", 0, "NAME", &opt.run.config_name,
                "Use one of the backend's own configurations (default: the one it prefers)")},
        {TK_OPT_PARSED("device", 0, "N|UUID", tk_run_parse_device, &opt.run.devices,
                "Use this device (default: 0)")},
        {TK_OPT_TEXT("head", 0, "REV", &opt.head,
                "Compare two revisions of an upstream: --head=REV with --base=REV, and "
                "UPSTREAM:BACKEND")},
        {TK_OPT_TEXT("import-proton", 0, "FILE", &opt.proton_path,
                 "Read a launch that Triton's Proton recorded, and measure the kernel without "
                 "records"),
                .excludes = "base base-config head launches"},
        {TK_OPT_TEXT("options", 0, "KEY=VALUE,...", &opt.run.backend_options,
                "Pass options to the backend (default: with --head, those of the upstream)")},
        {TK_OPT_HEADING("How")},
        {TK_OPT_COUNT("clock", 0, "MHZ", 1, CLOCK_MAX_MHZ, &opt.clock_mhz,
                 "Clock of the device while it recorded the file of --import-proton (default: "
                 "as measured now)"),
                .needs = "import-proton"},
        {TK_OPT_FLAG("hot", 0, &opt.run.hot, "One input set that stays in the caches")},
        {TK_OPT_COUNT("launches", 0, "N", 1, TK_TRACE_LAUNCHES_MAX, &opt.launches,
                "Read N launches of each run (default: 4)")},
        {TK_OPT_COUNT("runs", 0, "N", 1, TK_TRACE_RUNS_MAX, &opt.runs,
                "Run N processes of each build (default: 3; with a base 6, the fewest that can "
                "be compared)")},
        {TK_OPT_HEADING("Output")},
        {TK_OPT_JSON(&opt.run.json, "Print tables (default) or JSON")},
        {TK_RUN_OPT_LIST(&opt.run.list)},
        {TK_OPT_COUNT("multiprocessors", 0, "N", 0, 1e6, &opt.multiprocessors,
                "Write N multiprocessors to --out; 0: all (default: 8)")},
        {TK_RUN_OPT_NO_STORE(&opt.run.no_store)},
        {TK_OPT_TEXT("out", 0, "FILE", &opt.out_path,
                "Write one launch to FILE, for ui.perfetto.dev or chrome://tracing")},
        {TK_OPT_ARGUMENT(&opt.run.backend, NULL)},
        {TK_OPT_ARGUMENTS(&opt.run.problems, NULL)},
        {0},
};

static int check_options(struct tk_error *err)
{
	bool compares = opt.base || opt.base_config;

	TRY(tk_run_check_mode(&opt.run, err));
	TRY(tk_run_check_problem(&opt.run, err));
	if (opt.head && (!opt.base || opt.base_config))
		return tk_fail(err, TK_EUSAGE, "--head: expected --base=REV beside it%s",
		        opt.base_config ? ", and no --base-config" : "");
	if (opt.runs < 0)
		opt.runs = compares ? TK_TRACE_RUNS_MIN : RUNS;
	if (opt.launches < 0)
		opt.launches = TK_TRACE_LAUNCHES;
	if (compares && opt.runs < TK_TRACE_RUNS_MIN)
		return tk_fail(err, TK_EUSAGE, "--runs: expected at least %d", TK_TRACE_RUNS_MIN);
	return TK_OK;
}

enum side_id { SIDE_BASE, SIDE_HEAD, SIDES };

/* One build; without a base, the side of that name does not record. */
struct side {
	struct tk_run_options options;
	struct tk_run_session session;
	int fd; /* of the trace; 0: does not record */
	struct tk_trace_runs runs;
};

struct session {
	const struct tk_globals *g;
	struct side sides[SIDES];
	struct tk_problem_spec problem;
	struct tk_trace_results results;
	json_t *timeline; /* of the head's first run: a list with one for each kernel */
	bool compares, failed;
	struct tk_ab_revisions revisions; /* of --head */
};

/* ---- what is printed ------------------------------------------------------------------------- */

static const struct tk_column activity_columns[] = {
        {"A MULTIPROCESSOR", TK_COLUMN_LEFT, "name"},
        {"TIME", TK_COLUMN_RIGHT, "ns", TK_SHOW_NS},
        {"SHARE", TK_COLUMN_RIGHT, "share", TK_SHOW_PERCENT},
        {0},
};

static const struct tk_column region_columns[] = {
        {"REGION", TK_COLUMN_LEFT, "name"},
        {"KIND", TK_COLUMN_LEFT | TK_COLUMN_DROP(1), "kind"},
        {"ENTERED", TK_COLUMN_RIGHT | TK_COLUMN_DROP(2), "entered", TK_SHOW_WHOLE},
        {"TIME", TK_COLUMN_RIGHT, "time_ns", TK_SHOW_NS},
        {"OF ITS GROUPS", TK_COLUMN_RIGHT, "share_of_groups", TK_SHOW_PERCENT},
        {"EXPOSED", TK_COLUMN_RIGHT, "exposed_ns", TK_SHOW_NS},
        {"CRITICAL PATH", TK_COLUMN_RIGHT, "critical_share", TK_SHOW_PERCENT},
        {0},
};

static const struct tk_column change_columns[] = {
        {"REGION", TK_COLUMN_LEFT, "name"},
        {"KIND", TK_COLUMN_LEFT | TK_COLUMN_DROP(1), "kind"},
        {"BASE", TK_COLUMN_RIGHT, "change.base_ns", TK_SHOW_NS},
        {"HEAD", TK_COLUMN_RIGHT, "change.head_ns", TK_SHOW_NS},
        {"CHANGE", TK_COLUMN_RIGHT, "{change.change_ns:delta}[{?change.changed} *]"},
        {"95 % INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(2),
                "{change.lo_ns:delta} to {change.hi_ns:delta}"},
        {"EXPOSED", TK_COLUMN_RIGHT,
                "[{exposed_change.change_ns:delta}[{?exposed_change.changed} *]]"},
        {0},
};

static int print_activities(const json_t *kernel, const struct tk_globals *g, struct tk_error *err)
{
	const double all_ns = tk_record_number(kernel, "duration_ns");
	json_t *rows = json_array(), *ns;
	const char *name;

	json_object_foreach (json_object_get(kernel, "multiprocessor_ns"), name, ns)
		if (json_number_value(ns) > 0)
			json_array_append_new(
			        rows, json_pack("{s:s, s:O, s:o}", "name", name, "ns", ns, "share",
			                      tk_json_number(json_number_value(ns) / all_ns)));
	return tk_records_print(g, activity_columns, rows, false, err);
}

/* Adds "critical_share" to the regions: of the critical path of a tile, else of a block. */
static int print_regions(const json_t *kernel, const struct tk_globals *g, struct tk_error *err)
{
	const bool tiles = json_is_object(json_object_get(kernel, "tiles"));
	const char *member = tiles ? "tile_critical_corrected_ns" : "critical_corrected_ns";
	double all_ns = tk_record_number(kernel,
	        tiles ? "tiles.critical_other_corrected_ns" : "critical_other_corrected_ns");
	const json_t *regions = json_object_get(kernel, "regions");
	json_t *rows = json_array(), *region;
	size_t i;

	json_array_foreach (regions, i, region)
		all_ns += tk_record_number(region, member);
	json_array_foreach (regions, i, region) {
		json_object_set_new(region, "critical_share",
		        tk_json_number(tk_record_number(region, member) / all_ns));
		if (tk_record_number(region, "entered") > 0)
			json_array_append(rows, region);
	}
	putchar('\n');
	return tk_records_print(g, region_columns, rows, false, err);
}

static int print_changes(const json_t *kernel, const struct tk_globals *g, struct tk_error *err)
{
	json_t *rows = json_pack("[{s:s, s:O}]", "name", "the kernel", "change",
	               json_object_get(kernel, "change")),
	       *region;
	struct tk_kernel_change change;
	char text[TK_KERNEL_CHANGE_SIZE];
	size_t i;

	tk_kernel_change_read(kernel, &change);
	printf("%s\n\n", tk_kernel_change_format(&change, text));
	json_array_foreach (json_object_get(kernel, "regions"), i, region)
		if (tk_record_number(region, "entered") > 0 ||
		        tk_record_number(region, "change.base_ns") > 0)
			json_array_append(rows, region);
	return tk_records_print(g, change_columns, rows, false, err);
}

/* A cost below 0: the build that records is faster. */
static int print_kernel(json_t *kernel, const struct session *s, struct tk_error *err)
{
	if (s->compares)
		return print_changes(kernel, s->g, err);
	json_object_set_new(kernel, "cut",
	        json_boolean(tk_record_number(kernel, "blocks") <
	                     tk_record_number(kernel, "blocks_launched")));
	tk_record_write(stdout,
	        "{name}: {duration_ns:ns} on {multiprocessors} multiprocessors at "
	        "{clock_mhz:whole} MHz; {records:whole} records[ of {record_ns:ns} in a row]"
	        "[, some of {groups_with_loss:count} groups lost]"
	        "[{!groups_with_loss:count}, none lost]"
	        "[{?cut}; the first {blocks} of {blocks_launched} blocks]"
	        "[{!blocks_launched}; the first {blocks} blocks]\n"
	        "[in place a record costs {record_in_place_ns:ns}; without them the kernel takes "
	        "{corrected_ns:ns}\n]"
	        "[{tiles.count:whole} tiles of {tiles.mean_ns:ns} in the mean, "
	        "{tiles.shortest_ns:ns} "
	        "to {tiles.longest_ns:ns}; the critical path is that of a tile\n]\n",
	        kernel);
	TRY(print_activities(kernel, s->g, err));
	return print_regions(kernel, s->g, err);
}

static int print_text(const struct session *s, json_t *document, struct tk_error *err)
{
	const struct tk_ab_revisions *r = &s->revisions;
	json_t *kernel;
	size_t i;

	if (!s->compares)
		json_object_set_new(document, "cost",
		        tk_json_number(s->results.traced_ns / s->results.untraced_ns - 1));
	tk_record_write(stdout,
	        "{title} by {backend} on {device_model}"
	        "[: {untraced_ns:ns}, {traced_ns:ns} while it records ({cost:signed})]\n",
	        document);
	for (i = 0; opt.head && i < TK_AB_SIDES; i++)
		printf("%s: %s (%.12s %s)\n", r->side[i].name, r->side[i].spec,
		        r->side[i].revision.id, r->side[i].revision.subject);
	json_array_foreach (json_object_get(document, "kernels"), i, kernel) {
		putchar('\n');
		TRY(print_kernel(kernel, s, err));
	}
	return TK_OK;
}

/* As --format=json prints it. */
static json_t *encode(const struct session *s)
{
	json_t *o = tk_run_encode_head(
	        &s->sides[SIDE_HEAD].session, opt.run.backend, "tracker-trace/1", &s->problem);

	for (int k = 0; opt.head && k < TK_AB_SIDES; k++)
		json_object_set_new(o, s->revisions.side[k].name,
		        tk_json_text(s->revisions.side[k].revision.id));
	tk_trace_results_encode(&s->results, o);
	return o;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static int open_side(struct session *s, struct side *side, bool records, struct tk_error *err)
{
	side->session = (struct tk_run_session){.o = &side->options, .config = s->g->config};
	TRY(records ? tk_trace_file_open(&side->fd, err) : TK_OK);
	side->session.trace_fd = records ? side->fd : 0;
	return tk_run_open_devices(&side->session, s->g, err);
}

static int open_sides(struct session *s, struct tk_error *err)
{
	struct side *base = &s->sides[SIDE_BASE];
	for (int i = 0; i < SIDES; i++) {
		s->sides[i].options = opt.run;
		s->sides[i].options.seconds = s->compares ? TK_TRACE_COMPARISON_S : SECONDS;
	}
	if (opt.head) {
		base->options.backend = s->revisions.path[TK_AB_BASE];
		s->sides[SIDE_HEAD].options.backend = s->revisions.path[TK_AB_HEAD];
		for (int i = 0; i < SIDES && !opt.run.backend_options; i++)
			s->sides[i].options.backend_options = s->revisions.options;
	} else if (opt.base)
		base->options.backend = opt.base;
	if (opt.base_config)
		base->options.config_name = opt.base_config;
	TRY(open_side(s, base, s->compares, err));
	return open_side(s, &s->sides[SIDE_HEAD], true, err);
}

static void close_side(struct side *side)
{
	tk_run_close_devices(&side->session);
	tk_trace_runs_free(&side->runs);
	if (side->fd > 0)
		close(side->fd);
}

static int write_chrome(const struct session *s, const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, struct tk_error *err)
{
	FILE *out = fopen(opt.out_path, "we");
	int status = out ? tk_trace_write_chrome(kernel, l, (size_t)opt.multiprocessors, out, err)
	                 : tk_fail_errno(err, "%s", opt.out_path);
	if (out && fclose(out) != 0 && !status)
		status = tk_fail_errno(err, "%s", opt.out_path);
	return status;
}

static int write_launch(const struct session *s, const struct tk_trace *t, struct tk_error *err)
{
	AUTO(tk_trace_launch) l = {0};

	TRY(tk_trace_launch_read(t, 0, t->launch_count - 1, &l, err));
	return write_chrome(s, &t->kernels[0], &l, err);
}

/* Of the head's first run. */
static int keep_first(void *arg, const struct tk_trace *t, struct tk_error *err)
{
	struct session *s = arg;
	int status = opt.out_path ? write_launch(s, t, err) : TK_OK;
	return status || !s->g->store
	               ? status
	               : tk_trace_timeline_list(t, TK_TRACE_SPANS_STORED, &s->timeline, err);
}

static int measure_side(struct session *s, enum side_id id, size_t run, struct tk_error *err)
{
	struct side *side = &s->sides[id];
	struct tk_run_device *device = &side->session.devices_open[0];
	struct tk_job_request q = tk_run_make_request(&side->session, device, &s->problem);
	q.trace_launches = side->fd ? (uint32_t)opt.launches : 0;
	struct tk_trace_job job = {.worker = device->worker,
	        .request = &q,
	        .fd = side->fd,
	        .arg = s,
	        .observe = id == SIDE_HEAD && run == 0 ? keep_first : NULL};
	TRY(tk_trace_job_run(&job, &side->runs, run, err));
	s->failed = job.failed;
	return TK_OK;
}

static int read_proton(struct session *s, double clock_mhz, struct tk_error *err)
{
	struct tk_trace_file_kernel kernel;
	AUTO(tk_trace_launch) l = {0};

	TRY(tk_trace_read_proton(opt.proton_path, clock_mhz, &kernel, &l, err));
	tk_trace_results_import(
	        &s->sides[SIDE_HEAD].runs, (size_t)opt.runs, &kernel, &l, &s->results);
	TRY(opt.out_path ? write_chrome(s, &kernel, &l, err) : TK_OK);
	if (s->g->store)
		s->timeline = json_pack(
		        "[o]", tk_trace_timeline_json(&kernel, &l, TK_TRACE_SPANS_STORED));
	return TK_OK;
}

/* The kernel runs without records, which says how long it takes and the clock; one launch with them
 * is read. */
static int import(struct session *s, struct tk_error *err)
{
	struct side *head = &s->sides[SIDE_HEAD];
	double clock_mhz = opt.clock_mhz;
	head->options = opt.run;
	head->options.seconds = SECONDS;
	int status = open_side(s, head, false, err);
	for (size_t run = 0; !status && run < (size_t)opt.runs; run++)
		status = measure_side(s, SIDE_HEAD, run, err);
	if (status)
		return status;
	if (!(clock_mhz > 0))
		clock_mhz = head->runs.clock_mhz[0];
	if (!(clock_mhz > 0))
		return tk_fail(err, TK_EUSAGE, "the device reports no clock; expected --clock=MHZ");
	return read_proton(s, clock_mhz, err);
}

/* As after --base: "BACKEND:config=NAME"; with --head, the commit. */
static char *format_base(const struct session *s)
{
	if (opt.head)
		return tk_strdup(s->revisions.side[TK_AB_BASE].revision.id);
	return tk_sprintf("%s%s%s", opt.base ? opt.base : opt.run.backend,
	        opt.base_config ? ":config=" : "", opt.base_config ? opt.base_config : "");
}

/* After it was printed: a history that cannot be written to costs no measurement. */
static int store_result(struct session *s, struct tk_error *err)
{
	AUTO_TEXT base = s->compares ? format_base(s) : NULL;
	json_auto_t *result = encode(s);

	return tk_run_store_report(&s->sides[SIDE_HEAD].session, s->g->store,
	        TK_KERNEL_REPORT_TRACE, &s->problem, base, result, s->timeline, err);
}

/* Builds both revisions of "UPSTREAM:BACKEND", or of an upstream with a backend of its name. */
static int build_revisions(struct session *s, struct tk_error *err)
{
	const char *name = opt.run.backend, *colon = strchr(name, ':'),
	           *specs[TK_AB_SIDES] = {[TK_AB_BASE] = opt.base, [TK_AB_HEAD] = opt.head};
	char *upstream = tk_strndup(name, colon ? (size_t)(colon - name) : strlen(name));
	struct tk_progress *progress = tk_progress_new(s->g);
	const struct tk_night_options night = {
	        .program = s->g->program, .observer = tk_progress_observer(progress)};
	int status = tk_ab_revisions_build(s->g->config,
	        s->g->db_path ? s->g->db_path : s->g->config->db, &night, upstream,
	        colon ? colon + 1 : name, specs, &s->revisions, err);
	tk_progress_free(progress);
	free(upstream);
	return status;
}

static int record(struct session *s, struct tk_error *err)
{
	int status = opt.head ? build_revisions(s, err) : TK_OK;
	if (!status)
		status = open_sides(s, err);
	for (size_t run = 0; !status && run < (size_t)opt.runs; run++) {
		enum side_id first = run % 2 ? SIDE_HEAD : SIDE_BASE;
		status = measure_side(s, first, run, err);
		if (!status)
			status = measure_side(s, SIDES - 1 - first, run, err);
	}
	return status ? status
	              : tk_trace_results_fill(&s->sides[SIDE_BASE].runs, &s->sides[SIDE_HEAD].runs,
	                        (size_t)opt.runs, &s->results, err);
}

static int trace(struct session *s, struct tk_error *err)
{
	if (tk_problem_parse(&s->problem, opt.run.problems.items[0], err))
		return err->status = TK_EUSAGE;
	TRY(opt.proton_path ? import(s, err) : record(s, err));
	json_auto_t *document = encode(s);

	TRY(opt.run.json ? tk_command_print_json(json_incref(document), err)
	                 : print_text(s, document, err));
	return s->g->store ? store_result(s, err) : TK_OK;
}

static int run_trace(struct tk_globals *g, struct tk_error *err)
{
	struct session *s;
	int status;

	if (opt.run.list)
		return tk_run_list_reports(g, TK_KERNEL_REPORT_TRACE, &opt.run, err);
	TRY(tk_command_open(g, opt.run.no_store ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	tk_cancel_install_handlers();
	s = tk_calloc(1, sizeof *s);
	s->g = g;
	s->compares = opt.base || opt.base_config;
	status = trace(s, err);
	if (s->failed) {
		if (status)
			tk_command_fail("trace", err);
		status = TK_EXIT_INCOMPLETE;
	}
	for (int i = 0; i < SIDES; i++)
		close_side(&s->sides[i]);
	json_decref(s->timeline);
	tk_ab_revisions_free(&s->revisions);
	free(s);
	return status;
}

const struct tk_command tk_command_trace = {.name = "trace",
        .summary = "show where the time goes inside a kernel, and what changed there",
        .usage = {.options = options,
                .arguments = "BACKEND PROBLEM\n--list [BACKEND]",
                .check = check_options,
                .help = "Show where the time goes inside a backend's kernels: how long their "
                        "warps load, wait, multiply and store, what of it the matrix products "
                        "hide, and what changed against another build.\v"
                        "BACKEND and PROBLEM are written as for `tracker run`. The kernels must "
                        "have been built to record regions (kernels/gpu/trace.h), which those of "
                        "this tracker for NVIDIA GPUs are: the build that records lies in a "
                        "folder \"trace\" beside the other one. Results are verified. Without a "
                        "base, builds that record and that do not run by turns, and the cost of "
                        "recording is printed. The result is stored in the history.\n\n"
                        "Exit code: 0 done, 2 usage, 3 the kernel failed or is wrong, 4 nothing "
                        "could be recorded.\n\n"
                        "Examples:\n"
                        "  tracker trace hopper_gemm gemm:m=4096,n=4096,k=4096,a=f16\n"
                        "  tracker trace hopper_flash "
                        "attention:b=4,h=16,sq=4096,d=128,dtype=bf16,causal=yes "
                        "--out=trace.json\n"
                        "  tracker trace ./new.so gemm:m=4096,n=4096,k=4096,a=f16 "
                        "--base=./old.so\n"
                        "  tracker trace hopper_gemm gemm:m=4096,n=4096,k=4096,a=f16 "
                        "--base-config=tile-128x128\n"
                        "  tracker trace self:hopper_gemm gemm:m=4096,n=4096,k=4096,a=f16 "
                        "--base=main~5 --head=main\n"
                        "  tracker trace triton attention:b=4,h=16,sq=4096,d=128,dtype=f16 "
                        "--import-proton=attention.chrome_trace\n"
                        "  tracker trace --list hopper_gemm"},
        .run = run_trace};
