/* `tracker run`: measures problems on one backend now and prints the results. Nothing is stored. */
#include "cli/host/run.h"
#include "base/error.h"
#include "base/try.h"

#include "base/process.h"
#include "cli/arguments.h"
#include "core/problem.h"
#include "nightly/plan/job_inputs.h"
#include "suite/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct tk_run_options opt = TK_RUN_OPTIONS_NONE;

int tk_run_parse_device(const char *text, void *to, struct tk_error *err)
{
	if (!*text || strchr(text, ','))
		return tk_fail(err, TK_EUSAGE, "expected a number or a UUID");
	*(const char **)to = text;
	return TK_OK;
}

static int parse_devices(const char *text, void *to, struct tk_error *err)
{
	if (!*text)
		return tk_fail(err, TK_EUSAGE, "expected all, numbers or UUIDs");
	*(const char **)to = text;
	return TK_OK;
}

static const struct tk_option options[] = {
        {TK_OPT_HEADING("What")},
        {TK_OPT_TEXT("config-of-backend", 0, "NAME", &opt.config_name,
                "Use one of the backend's own configurations (default: the one it prefers)")},
        {TK_OPT_TEXT("options", 0, "KEY=VALUE,...", &opt.backend_options,
                "Pass options to the backend")},
        {TK_OPT_TEXT("suite", 0, "NAME|FILE", &opt.suite,
                "Measure every problem of a suite, after the ones on the command line")},
        {TK_OPT_HEADING("Where")},
        {TK_OPT_TEXT("cores", 0, "LIST", &opt.cores,
                "Pin the worker to these cores, for instance 0-3,8")},
        {TK_OPT_PARSED("device", 0, "N|UUID", tk_run_parse_device, &opt.devices,
                "Measure on this device of the backend's kind (default: 0)")},
        {TK_OPT_PARSED("devices", 0, "LIST", parse_devices, &opt.devices,
                "Measure on several devices, one after the other: all, numbers (0,2), names "
                "(cuda:1) or UUIDs")},
        {TK_OPT_COUNT("threads", 0, "N", 0, 65536, &opt.threads,
                "Use N threads of a CPU backend (default: as configured, else all cores)")},
        {TK_OPT_HEADING("How")},
        {TK_OPT_COUNT("check-seed", 0, "N", 0, 0x1p53, &opt.check_seed,
                "Repeat the checks of a result whose check_seed was N (default: drawn for each "
                "job)")},
        {TK_OPT_FLAG(
                "hot", 0, &opt.hot, "Same as --mode=hot: one input set that stays in the caches")},
        {TK_OPT_NUMBER("idle-gap", 0, "TIME", TK_QUANTITY_TIME, 0, 1, &opt.idle_gap_s,
                "Idle this long between two bursts in paced and contended mode, for instance "
                "3ms (default: found for each kernel)")},
        {TK_OPT_MODE(&opt.mode, TK_OPTION_MODE_HELP " (default: paced on a GPU, else cold)")},
        {TK_OPT_FLAG("no-verify", 0, &opt.no_verify,
                "Do not check the results; only for looking at a kernel that is known to be "
                "wrong")},
        {TK_OPT_NUMBER("seconds", 0, "TIME", TK_QUANTITY_DURATION, 0, 3600, &opt.seconds,
                "Sample one problem for this long: 2, 500ms (default: as configured)")},
        {TK_OPT_COUNT("seed", 0, "N", 0, 0x1p53, &opt.seed, "Seed the inputs with N (default: 1)")},
        {TK_OPT_TEXT("sequence", 0, "NAME|FILE", &opt.sequence,
                "Measure within this sequence, a suite with `sequence: yes`, as "
                "--mode=sequence does")},
        {TK_OPT_COUNT("sets", 0, "N", 0, 4096, &opt.sets,
                "Rotate over N input sets (default: as many as keep the caches cold)")},
        {TK_OPT_HEADING("Output")},
        {TK_OPT_JSON(&opt.json, "Print a table (default) or JSON")},
        {TK_OPT_FLAG("samples", 0, &opt.samples, "Also print every sample")},
        {TK_OPT_ARGUMENT(&opt.backend, NULL)},
        {TK_OPT_ARGUMENTS(&opt.problems, NULL)},
        {0},
};

int tk_run_check_mode(struct tk_run_options *o, struct tk_error *err)
{
	if (o->hot)
		o->mode = TK_MODE_HOT;
	if (o->sequence && o->mode == TK_MODE_COUNT)
		o->mode = TK_MODE_SEQUENCE;
	if (o->sequence && o->mode != TK_MODE_SEQUENCE)
		return tk_fail(err, TK_EUSAGE, "--sequence cannot be combined with --mode=%s",
		        tk_mode_name(o->mode));
	if (!o->sequence && o->mode == TK_MODE_SEQUENCE)
		return tk_fail(err, TK_EUSAGE,
		        "--mode=sequence: missing --sequence=NAME; `tracker suite list` lists the "
		        "sequences");
	return TK_OK;
}

int tk_run_check_problem(const struct tk_run_options *o, struct tk_error *err)
{
	if (o->list && o->problems.count)
		return tk_fail(err, TK_EUSAGE, "--list: expected at most one BACKEND or upstream");
	if (!o->list && o->problems.count != 1)
		return tk_fail(err, TK_EUSAGE,
		        "expected BACKEND and one PROBLEM, for instance hopper_gemm "
		        "gemm:m=4096,n=4096,k=4096,a=f16");
	return TK_OK;
}

static int check_options(struct tk_error *err)
{
	TRY(tk_run_check_mode(&opt, err));
	if (!opt.backend)
		return tk_fail(
		        err, TK_EUSAGE, "missing BACKEND; `tracker doctor` lists the backends");
	if (!opt.problems.count && !opt.suite)
		return tk_fail(err, TK_EUSAGE,
		        "missing PROBLEM, for instance gemm:m=512,n=512,k=512 or --suite=smoke");
	return TK_OK;
}

struct tk_job_request tk_run_make_request(const struct tk_run_session *r,
        const struct tk_run_device *device, const struct tk_problem_spec *problem)
{
	const struct tk_measure_config *m = &r->config->measure;
	struct tk_job_request q = {.backend_path = r->backend_path,
	        .backend_options = r->o->backend_options,
	        .problem = problem->text,
	        .config = r->o->config_name,
	        .mode = r->mode_word,
	        .sequence = r->sequence,
	        .idle_gap_s = r->o->idle_gap_s < 0 ? 0 : r->o->idle_gap_s,
	        .sets = r->o->sets < 0 ? 0 : (uint32_t)r->o->sets,
	        .seed = r->o->seed < 0 ? 1 : (uint64_t)r->o->seed,
	        .check_seed = r->o->check_seed < 0 ? 0 : (uint64_t)r->o->check_seed,
	        .deadline_s = r->config->budgets.job_s,
	        .measure_s = r->o->seconds < 0 ? r->config->budgets.measure_s : r->o->seconds,
	        .relative_half_width = m->relative_half_width,
	        .confidence = m->confidence,
	        .min_samples = m->min_samples,
	        .max_samples = m->max_samples,
	        .verify = !r->o->no_verify,
	        .limits = &device->limits};
	if (q.measure_s > q.deadline_s / 4)
		q.deadline_s = q.measure_s * 4;
	return q;
}

static int run_one(struct tk_run_session *r, const struct tk_run_device *device, const char *text,
        struct tk_error *err)
{
	struct tk_problem_spec p;
	AUTO(tk_job_result) job = {0};
	int status = tk_problem_parse(&p, text, err);
	if (status)
		return err->status = TK_EUSAGE;
	struct tk_job_request q = tk_run_make_request(r, device, &p);
	if ((status = tk_texts_find(&r->texts, r->config->root, p.text, &q.text, err)))
		return status == TK_ENOTFOUND ? (err->status = TK_EUSAGE) : status;
	if ((status = tk_worker_measure(device->worker, &q, &job, err)))
		return status;
	r->measured += tk_outcome_has_timing(job.outcome);
	r->unsupported += job.outcome == TK_OUTCOME_UNSUPPORTED;
	r->failed += !tk_outcome_has_timing(job.outcome) && job.outcome != TK_OUTCOME_UNSUPPORTED;
	tk_run_add_result(r, device, &p, &job);
	return TK_OK;
}

/* Check all problems before measuring: a typo in the last one must not cost the time of the
 * others. */
static int check_problems(const struct tk_run_options *o, struct tk_error *err)
{
	struct tk_problem_spec p;
	for (size_t i = 0; i < o->problems.count; i++)
		if (tk_problem_parse(&p, o->problems.items[i], err))
			return err->status = TK_EUSAGE;
	return TK_OK;
}

static int prepare(struct tk_run_session *r, const struct tk_globals *g, struct tk_error *err)
{
	int status = check_problems(r->o, err);
	if (!status && r->o->cores)
		status = tk_cpu_list_check(r->o->cores, err);
	if (!status && r->o->suite)
		status = tk_suite_load(r->config->root, r->o->suite, &r->suite, err);
	if (status == TK_ENOTFOUND)
		err->status = status = TK_EUSAGE;
	return status ? status : tk_run_open_devices(r, g, err);
}

static int run_device(
        struct tk_run_session *r, const struct tk_run_device *device, struct tk_error *err)
{
	for (size_t i = 0; i < r->o->problems.count; i++)
		TRY(run_one(r, device, r->o->problems.items[i], err));
	for (size_t i = 0; r->suite && i < r->suite->count; i++)
		TRY(run_one(r, device, r->suite->problems[i].text, err));
	return TK_OK;
}

static int run_all(struct tk_run_session *r, struct tk_error *err)
{
	for (size_t i = 0; i < r->device_count; i++)
		TRY(run_device(r, &r->devices_open[i], err));
	return TK_OK;
}

static void close_run(struct tk_run_session *r)
{
	tk_run_close_devices(r);
	tk_suite_free(r->suite);
	tk_table_free(r->table);
	json_decref(r->json);
}

/* The log is appended to, so its size tells. */
static bool has_new_output(const struct tk_run_session *r)
{
	struct stat st;
	return r->log_path && stat(r->log_path, &st) == 0 && st.st_size != r->log_bytes;
}

static int run_run(struct tk_globals *g, struct tk_error *err)
{
	struct tk_run_session r = {
	        .o = &opt, .config = g->config, .table = tk_run_table_new(g), .json = json_array()};
	int status;

	tk_cancel_install_handlers();
	status = prepare(&r, g, err);
	if (!status)
		status = run_all(&r, err);
	if (r.measured + r.unsupported + r.failed > 0) {
		struct tk_error printing = {0};
		int printed = tk_run_print(&r, &printing);
		if (!status && printed)
			status = tk_fail(err, printed, "%s", printing.message);
	}
	if (r.failed && !g->quiet && has_new_output(&r))
		fprintf(stderr, "tracker run: the output of the backend is in %s\n", r.log_path);
	if (!status && r.failed)
		status = TK_EXIT_INCOMPLETE;
	close_run(&r);
	return status;
}

const struct tk_command tk_command_run = {.name = "run",
        .summary = "measure problems on one backend now, without storing them",
        .usage = {.options = options,
                .arguments = "BACKEND [PROBLEM...]",
                .check = check_options,
                .help = "Measure problems on one backend now and print the results. Nothing is "
                        "stored; `tracker nightly` stores.\v"
                        "BACKEND is the name of a backend of this tracker, UPSTREAM:BACKEND for "
                        "one of the newest build of an upstream (its name alone where only one "
                        "upstream has it), or the path of a shared object (tk_backend_NAME.so) "
                        "or of a compiled kernel package (tk_backend_NAME.cuda, .hip). PROBLEM "
                        "is written as every command prints it, or op:key=value,... A wrong "
                        "result is not timed.\n\n"
                        "Exit code: 0 every problem was measured or is unsupported by this "
                        "backend, 2 usage, 3 some jobs failed, 4 nothing could be run.\n\n"
                        "Examples:\n"
                        "  tracker run cpu gemm:m=512,n=512,k=512\n"
                        "  tracker run self:cpu 'gemm f32 512x512x512 nn'\n"
                        "  tracker run cpu attention:b=1,h=8,sq=1024,d=64,dtype=bf16 --hot "
                        "--seconds=2\n"
                        "  tracker run openblas --suite=smoke --format=json\n"
                        "  tracker run cpu gemm:m=16,n=768,k=768 --sequence=bert-base"},
        .opens = TK_OPENS_CONFIG,
        .run = run_run};
