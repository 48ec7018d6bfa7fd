/* `tracker profile`: what the device's counters say about one launch of a kernel. */
#include "cli/host/profile.h"
#include "base/try.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "cli/host/kernel_reports.h"
#include "core/problem.h"
#include "core/series.h"

#include <math.h>
#include <stdlib.h>

/* A kernel runs about ten times, and its memory is restored before each run. */
#define DEADLINE_MIN_S 600.0

static struct tk_run_options opt = TK_RUN_OPTIONS_NONE;

static const struct tk_option options[] = {
        {TK_OPT_HEADING("What")},
        {TK_OPT_TEXT("config-of-backend", 0, "NAME", &opt.config_name,
                "Use one of the backend's own configurations (default: the one it prefers)")},
        {TK_OPT_PARSED("device", 0, "N|UUID", tk_run_parse_device, &opt.devices,
                "Use this device (default: 0)")},
        {TK_OPT_FLAG("hot", 0, &opt.hot, "Do not flush the caches before each run of a kernel")},
        {TK_OPT_TEXT("options", 0, "KEY=VALUE,...", &opt.backend_options,
                "Pass options to the backend")},
        {TK_OPT_HEADING("Output")},
        {TK_OPT_JSON(&opt.json, "Print tables (default) or JSON")},
        {TK_RUN_OPT_LIST(&opt.list)},
        {TK_RUN_OPT_NO_STORE(&opt.no_store)},
        {TK_OPT_ARGUMENT(&opt.backend, NULL)},
        {TK_OPT_ARGUMENTS(&opt.problems, NULL)},
        {0},
};

static int check_options(struct tk_error *err)
{
	TRY(tk_run_check_mode(&opt, err));
	return tk_run_check_problem(&opt, err);
}

/* The null device, which computes nothing, takes the one that there is. */
static const struct tk_profiler *choose_profiler(enum tk_device_kind device)
{
	char *path = NULL;
	bool has_rocprofv3 =
	        device == TK_DEVICE_NULL && tk_process_find_program("rocprofv3", &path);
	free(path);
	if (device == TK_DEVICE_HIP || has_rocprofv3)
		return &tk_profiler_rocprofv3;
	return device == TK_DEVICE_CUDA || device == TK_DEVICE_NULL ? &tk_profiler_ncu : NULL;
}

int tk_run_prepare_profile(struct tk_run_session *r, const char *kind, struct tk_error *err)
{
	struct tk_run_profile *p = r->profile;
	p->profiler = choose_profiler(tk_device_kind_from_name(kind));
	if (!p->profiler)
		return tk_fail(err, TK_EUNSUPPORTED,
		        "backend %s needs a device of kind %s, and only those of kind cuda and hip "
		        "can be profiled",
		        r->o->backend, kind);
	int status = p->program ? TK_OK : tk_profiler_find(p->profiler, &p->program, err);
	if (!status && !p->folder)
		status = tk_dir_create_temp("/tmp", "tracker-profile-", &p->folder, err);
	if (!status)
		p->profiler->make_command(
		        &p->command, p->program, p->folder, p->pass, r->mode != TK_MODE_HOT);
	return status;
}

static void free_profile(struct tk_run_profile *p)
{
	if (p->folder)
		tk_dir_remove(p->folder, NULL);
	free(p->program);
	free(p->folder);
}

/* The worker records one launch; the profiler writes it down when the worker ends. */
static int record(struct tk_run_session *r, const struct tk_problem_spec *problem,
        struct tk_job_result *job, struct tk_error *err)
{
	struct tk_run_device *device = &r->devices_open[0];
	struct tk_job_request q = tk_run_make_request(r, device, problem);
	q.profile = true;
	q.deadline_s = fmax(q.deadline_s, DEADLINE_MIN_S);
	int status = tk_worker_measure(device->worker, &q, job, err);
	tk_worker_free(device->worker);
	device->worker = NULL;
	return status;
}

/* A pass that fails costs its counters only, of which the profiler's reader takes note. *r keeps
 * the device of the first pass. */
static int record_other_passes(struct tk_run_session *r, const struct tk_globals *g,
        const struct tk_problem_spec *problem, struct tk_error *err)
{
	struct tk_run_profile *p = r->profile;
	int status = TK_OK;
	for (p->pass = 1; !status && p->pass < p->profiler->passes; p->pass++) {
		struct tk_run_session other = {.o = r->o, .config = r->config, .profile = p};
		struct tk_job_result job = {0};
		struct tk_error why = {0};
		status = tk_run_open_devices(&other, g, &why);
		if (!status)
			status = record(&other, problem, &job, &why);
		if (status || !tk_outcome_has_timing(job.outcome))
			snprintf(p->why, sizeof p->why, "%.500s",
			        status ? why.message : job.message);
		status = status == TK_ECANCELED ? tk_fail(err, status, "%s", why.message) : TK_OK;
		tk_job_result_free(&job);
		tk_run_close_devices(&other);
	}
	return status;
}

static int read_counters(
        const struct tk_run_session *r, struct tk_profile *counters, struct tk_error *err)
{
	const struct tk_run_profile *p = r->profile;
	int status = p->profiler->read(p->folder, r->devices_open[0].arch, counters, err);
	if (status && *p->why)
		tk_error_add_context(err, "%s", p->why);
	return status;
}

/* After it was printed: a history that cannot be written to costs no measurement. */
static int store_result(struct tk_run_session *r, struct tk_store *store,
        const struct tk_problem_spec *problem, const struct tk_job_result *job,
        const struct tk_profile *counters, struct tk_error *err)
{
	json_t *result = tk_profile_encode(r, problem, job, counters);
	const struct tk_kernel_report_new report = {.kind = TK_KERNEL_REPORT_PROFILE,
	        .problem = problem->text,
	        .started_s = r->started_s,
	        .result = result};
	int status = tk_kernel_reports_put(store, r, &report, err);
	json_decref(result);
	return status;
}

static int profile(struct tk_run_session *r, const struct tk_globals *g, struct tk_store *store,
        struct tk_error *err)
{
	struct tk_problem_spec problem;
	struct tk_job_result job = {0};
	struct tk_profile counters = {0};
	if (tk_problem_parse(&problem, r->o->problems.items[0], err))
		return err->status = TK_EUSAGE;
	int status = tk_run_open_devices(r, g, err);
	if (!status)
		status = record(r, &problem, &job, err);
	if (status && r->profile->program)
		tk_error_add_context(err, "under %s", r->profile->program);
	r->failed = !status && !tk_outcome_has_timing(job.outcome);
	if (r->failed)
		tk_fail(err, TK_EDATA, "%s: %s", tk_outcome_name(job.outcome), job.message);
	else if (!status)
		status = record_other_passes(r, g, &problem, err);
	if (!status && !r->failed)
		status = read_counters(r, &counters, err);
	if (!status && !r->failed)
		status = tk_profile_print(r, g, &problem, &job, &counters, err);
	if (!status && !r->failed && store)
		status = store_result(r, store, &problem, &job, &counters, err);
	tk_profile_free(&counters);
	tk_job_result_free(&job);
	return status;
}

static int run_profile(struct tk_globals *g, struct tk_error *err)
{
	struct tk_run_profile p = {0};

	if (opt.list) {
		TRY(tk_command_open(g, TK_OPENS_READ, err));
		return tk_kernel_reports_list(
		        g, TK_KERNEL_REPORT_PROFILE, opt.backend, opt.json, err);
	}
	TRY(tk_command_open(g, opt.no_store ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	tk_cancel_install_handlers();
	struct tk_run_session r = {
	        .o = &opt, .config = g->config, .profile = &p, .started_s = tk_clock_now_s()};
	int status = profile(&r, g, g->store, err);
	if (r.failed) {
		tk_command_fail("profile", err);
		status = TK_EXIT_INCOMPLETE;
	}
	tk_run_close_devices(&r);
	free_profile(&p);
	return status;
}

const struct tk_command tk_command_profile = {.name = "profile",
        .summary = "read counters of one kernel: bytes, tensor cores, stalls",
        .usage = {.options = options,
                .arguments = "BACKEND PROBLEM\n--list [BACKEND]",
                .check = check_options,
                .help = "Run a backend's kernels for one problem under the device's profiler, "
                        "and show what its counters say: bytes moved by each level of the "
                        "memory, the share of time in which the tensor cores work, occupancy, "
                        "and what the warps wait for.\v"
                        "BACKEND and PROBLEM are written as for `tracker run`. The result is "
                        "verified first; then one launch is recorded. The profiler runs its "
                        "kernels many times, at the clocks as they are. The result is stored in "
                        "the history.\n\n"
                        "NVIDIA: Nsight Compute (`ncu`). AMD: `rocprofv3` of ROCm 7, which runs "
                        "the worker eight times; no AMD device has run it yet.\n\n"
                        "The worker runs without the sandbox. The user needs the right to read "
                        "the counters (https://developer.nvidia.com/ERR_NVGPUCTRPERM).\n\n"
                        "Exit code: 0 done, 2 usage, 3 the kernel failed or is wrong, 4 nothing "
                        "could be recorded.\n\n"
                        "Examples:\n"
                        "  tracker profile hopper_gemm gemm:m=4096,n=4096,k=4096,a=f16\n"
                        "  tracker profile cudnn attention:b=4,h=16,sq=4096,d=128,dtype=bf16 "
                        "--format=json\n"
                        "  tracker profile --list hopper_gemm"},
        .run = run_profile};
