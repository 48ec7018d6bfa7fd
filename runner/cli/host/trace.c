/* `tracker trace`: where the time goes inside a kernel. */
#include "cli/host/trace.h"
#include "base/try.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/process.h"
#include "cli/arguments.h"
#include "cli/host/kernel_reports.h"
#include "cli/progress.h"
#include "core/problem.h"
#include "nightly/trace/trace_job.h"
#include "profile/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS 3
#define MULTIPROCESSORS 8
#define SECONDS 0.2
#define CLOCK_MAX_MHZ 100000

static struct tk_trace_options opt = {
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
	const struct tk_trace_options *o;
	const struct tk_globals *g;
	struct tk_config *config;
	struct tk_store *store; /* gets the result; NULL: none */
	struct side sides[SIDES];
	struct tk_trace_report *report;
	int64_t started_s;
	bool compares, failed;
	struct tk_ab_revisions revisions; /* of --head */
};

static int open_side(struct session *s, struct side *side, bool records, struct tk_error *err)
{
	side->session = (struct tk_run_session){.o = &side->options, .config = s->config};
	TRY(records ? tk_trace_file_open(&side->fd, err) : TK_OK);
	side->session.trace_fd = records ? side->fd : 0;
	return tk_run_open_devices(&side->session, s->g, err);
}

static int open_sides(struct session *s, struct tk_error *err)
{
	const struct tk_trace_options *o = s->o;
	struct side *base = &s->sides[SIDE_BASE];
	for (int i = 0; i < SIDES; i++) {
		s->sides[i].options = o->run;
		s->sides[i].options.seconds = s->compares ? TK_TRACE_COMPARISON_S : SECONDS;
	}
	if (o->head) {
		base->options.backend = s->revisions.path[TK_AB_BASE];
		s->sides[SIDE_HEAD].options.backend = s->revisions.path[TK_AB_HEAD];
		for (int i = 0; i < SIDES && !o->run.backend_options; i++)
			s->sides[i].options.backend_options = s->revisions.options;
	} else if (o->base)
		base->options.backend = o->base;
	if (o->base_config)
		base->options.config_name = o->base_config;
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
	FILE *out = fopen(s->o->out_path, "we");
	int status = out ? tk_trace_write_chrome(kernel, l, (size_t)s->o->multiprocessors, out, err)
	                 : tk_fail_errno(err, "%s", s->o->out_path);
	if (out && fclose(out) != 0 && !status)
		status = tk_fail_errno(err, "%s", s->o->out_path);
	return status;
}

static int write_launch(const struct session *s, const struct tk_trace *t, struct tk_error *err)
{
	AUTO(tk_trace_launch) l = {0};
	int status = tk_trace_launch_read(t, 0, t->launch_count - 1, &l, err);
	if (status)
		return status;
	status = write_chrome(s, &t->kernels[0], &l, err);
	return status;
}

/* Of the head's first run. */
static int keep_first(void *arg, const struct tk_trace *t, struct tk_error *err)
{
	struct session *s = arg;
	int status = s->o->out_path ? write_launch(s, t, err) : TK_OK;
	return status || !s->store ? status
	                           : tk_trace_timeline_list(
	                                     t, TK_TRACE_SPANS_STORED, &s->report->timeline, err);
}

static int measure_side(struct session *s, enum side_id id, size_t run, struct tk_error *err)
{
	struct side *side = &s->sides[id];
	struct tk_run_device *device = &side->session.devices_open[0];
	struct tk_job_request q = tk_run_make_request(&side->session, device, &s->report->problem);
	q.trace_launches = side->fd ? (uint32_t)s->o->launches : 0;
	struct tk_trace_job job = {.worker = device->worker,
	        .request = &q,
	        .fd = side->fd,
	        .arg = s,
	        .observe = id == SIDE_HEAD && run == 0 ? keep_first : NULL};
	TRY(tk_trace_job_run(&job, &side->runs, run, err));
	s->failed = job.failed;
	return TK_OK;
}

static void name_device(struct session *s)
{
	const struct tk_run_device *d = &s->sides[SIDE_HEAD].session.devices_open[0];
	s->report->device = d->name;
	s->report->device_model = d->model;
}

static int fill_report(struct session *s, struct tk_error *err)
{
	name_device(s);
	return tk_trace_results_fill(&s->sides[SIDE_BASE].runs, &s->sides[SIDE_HEAD].runs,
	        (size_t)s->o->runs, &s->report->results, err);
}

static int read_proton(struct session *s, double clock_mhz, struct tk_error *err)
{
	struct tk_trace_file_kernel kernel;
	AUTO(tk_trace_launch) l = {0};
	struct tk_trace_report *r = s->report;
	int status = tk_trace_read_proton(s->o->proton_path, clock_mhz, &kernel, &l, err);
	if (status)
		return status;
	tk_trace_results_import(
	        &s->sides[SIDE_HEAD].runs, (size_t)s->o->runs, &kernel, &l, &r->results);
	if (s->o->out_path)
		status = write_chrome(s, &kernel, &l, err);
	if (!status && s->store) {
		r->timeline = json_array();
		json_array_append_new(
		        r->timeline, tk_trace_timeline_json(&kernel, &l, TK_TRACE_SPANS_STORED));
	}
	return status;
}

/* The kernel runs without records, which says how long it takes and the clock; one launch with them
 * is read. */
static int import(struct session *s, struct tk_error *err)
{
	struct side *head = &s->sides[SIDE_HEAD];
	double clock_mhz = s->o->clock_mhz;
	head->options = s->o->run;
	head->options.seconds = SECONDS;
	int status = open_side(s, head, false, err);
	for (size_t run = 0; !status && run < (size_t)s->o->runs; run++)
		status = measure_side(s, SIDE_HEAD, run, err);
	if (status)
		return status;
	name_device(s);
	if (!(clock_mhz > 0))
		clock_mhz = head->runs.clock_mhz[0];
	if (!(clock_mhz > 0))
		return tk_fail(err, TK_EUSAGE, "the device reports no clock; expected --clock=MHZ");
	return read_proton(s, clock_mhz, err);
}

/* As after --base: "BACKEND:config=NAME"; with --head, the commit. */
static char *format_base(const struct session *s)
{
	const struct tk_trace_options *o = s->o;
	if (o->head)
		return tk_strdup(s->revisions.side[TK_AB_BASE].revision.id);
	return tk_sprintf("%s%s%s", o->base ? o->base : o->run.backend,
	        o->base_config ? ":config=" : "", o->base_config ? o->base_config : "");
}

/* After it was printed: a history that cannot be written to costs no measurement. */
static int store_result(struct session *s, struct tk_error *err)
{
	AUTO_TEXT base = s->compares ? format_base(s) : NULL;
	json_auto_t *result = tk_trace_encode(s->report);
	const struct tk_kernel_report_new report = {.kind = TK_KERNEL_REPORT_TRACE,
	        .problem = s->report->problem.text,
	        .base = base,
	        .started_s = s->started_s,
	        .result = result,
	        .timeline = s->report->timeline};
	return tk_kernel_reports_put(s->store, &s->sides[SIDE_HEAD].session, &report, err);
}

/* Builds both revisions of "UPSTREAM:BACKEND", or of an upstream with a backend of its name. */
static int build_revisions(struct session *s, struct tk_error *err)
{
	const char *name = s->o->run.backend, *colon = strchr(name, ':'),
	           *specs[TK_AB_SIDES] = {[TK_AB_BASE] = s->o->base, [TK_AB_HEAD] = s->o->head};
	char *upstream = tk_strndup(name, colon ? (size_t)(colon - name) : strlen(name));
	struct tk_progress *progress = tk_progress_new(s->g);
	const struct tk_night_options night = {
	        .program = s->g->program, .observer = tk_progress_observer(progress)};
	int status = tk_ab_revisions_build(s->config, s->g->db_path ? s->g->db_path : s->config->db,
	        &night, upstream, colon ? colon + 1 : name, specs, &s->revisions, err);
	tk_progress_free(progress);
	free(upstream);
	s->report->revisions = &s->revisions;
	return status;
}

static int record(struct session *s, struct tk_error *err)
{
	int status = s->o->head ? build_revisions(s, err) : TK_OK;
	if (!status)
		status = open_sides(s, err);
	for (size_t run = 0; !status && run < (size_t)s->o->runs; run++) {
		enum side_id first = run % 2 ? SIDE_HEAD : SIDE_BASE;
		status = measure_side(s, first, run, err);
		if (!status)
			status = measure_side(s, SIDES - 1 - first, run, err);
	}
	return status ? status : fill_report(s, err);
}

static int trace(struct session *s, struct tk_error *err)
{
	struct tk_trace_report *r = s->report;
	if (tk_problem_parse(&r->problem, s->o->run.problems.items[0], err))
		return err->status = TK_EUSAGE;
	int status = s->o->proton_path ? import(s, err) : record(s, err);
	if (!status)
		status = tk_trace_print(r, s->g, err);
	return status || !s->store ? status : store_result(s, err);
}

static int run_trace(struct tk_globals *g, struct tk_error *err)
{
	struct session s = {.o = &opt, .g = g};

	if (opt.run.list) {
		TRY(tk_command_open(g, TK_OPENS_READ, err));
		return tk_kernel_reports_list(
		        g, TK_KERNEL_REPORT_TRACE, opt.run.backend, opt.run.json, err);
	}
	TRY(tk_command_open(g, opt.run.no_store ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	s.config = g->config;
	s.store = g->store;
	tk_cancel_install_handlers();
	s.started_s = tk_clock_now_s();
	s.compares = opt.base || opt.base_config;
	s.report = tk_calloc(1, sizeof *s.report);
	s.report->o = &opt;
	int status = trace(&s, err);
	if (s.failed) {
		if (status)
			tk_command_fail("trace", err);
		status = TK_EXIT_INCOMPLETE;
	}
	for (int i = 0; i < SIDES; i++)
		close_side(&s.sides[i]);
	json_decref(s.report->timeline);
	free(s.report);
	tk_ab_revisions_free(&s.revisions);
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
