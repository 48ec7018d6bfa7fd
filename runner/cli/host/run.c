/* `tracker run`: measures problems on one backend now and prints the results. Nothing is stored. */
#include "cli/host/run.h"

#include "base/process.h"
#include "cli/options.h"
#include "core/problem.h"
#include "nightly/plan/texts.h"
#include "suite/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct argp_option options[] = {
        {"check-seed", TK_RUN_OPT_CHECK_SEED, "N", 0,
                "Repeat the checks of a result whose check_seed was N (default: drawn for each "
                "job)",
                3},
        {"config-of-backend", TK_RUN_OPT_CONFIG, "NAME", 0,
                "Use one of the backend's own configurations (default: the one it prefers)", 2},
        {"cores", TK_RUN_OPT_CORES, "LIST", 0, "Pin the worker to these cores, for instance 0-3,8",
                2},
        {"device", TK_RUN_OPT_DEVICE, "N|UUID", 0,
                "Measure on this device of the backend's kind (default: 0)", 2},
        {"devices", TK_RUN_OPT_DEVICES, "LIST", 0,
                "Measure on several devices, one after the other: all, numbers (0,2), names "
                "(cuda:1) or UUIDs",
                2},
        {"format", 'f', "text|json", 0, "Print a table (default) or JSON", 4},
        {"hot", TK_RUN_OPT_HOT, NULL, 0,
                "Same as --mode=hot: one input set that stays in the caches", 3},
        {"mode", TK_RUN_OPT_MODE, "MODE", 0,
                TK_OPTION_MODE_HELP " (default: paced on a GPU, else cold)", 3},
        {"no-verify", TK_RUN_OPT_NO_VERIFY, NULL, 0,
                "Do not check the results; only for looking at a kernel that is known to be wrong",
                3},
        {"options", TK_RUN_OPT_OPTIONS, "KEY=VALUE,...", 0, "Pass options to the backend", 2},
        {"idle-gap", TK_RUN_OPT_IDLE_GAP, "TIME", 0,
                "Idle this long between two bursts in paced and contended mode, for instance 3ms "
                "(default: found for each kernel)",
                3},
        {"rest", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 3},
        {"samples", TK_RUN_OPT_SAMPLES, NULL, 0, "Also print every sample", 4},
        {"seconds", TK_RUN_OPT_SECONDS, "TIME", 0,
                "Sample one problem for this long: 2, 500ms (default: as configured)", 3},
        {"seed", TK_RUN_OPT_SEED, "N", 0, "Seed the inputs with N (default: 1)", 3},
        {"sequence", TK_RUN_OPT_SEQUENCE, "NAME|FILE", 0,
                "Measure within this sequence, a suite with `sequence: yes`, as --mode=sequence "
                "does",
                3},
        {"sets", TK_RUN_OPT_SETS, "N", 0,
                "Rotate over N input sets (default: as many as keep the caches cold)", 3},
        {"suite", TK_RUN_OPT_SUITE, "NAME|FILE", 0,
                "Measure every problem of a suite, after the ones on the command line", 1},
        {"threads", TK_RUN_OPT_THREADS, "N", 0,
                "Use N threads of a CPU backend (default: as configured, else all cores)", 2},
        {0},
};

static void take_arguments(struct tk_run_options *o, struct argp_state *state)
{
	o->backend = state->argv[state->next];
	o->problems = state->argv + state->next + 1;
	o->problem_count = state->argc - state->next - 1;
}

static void check_sequence(struct tk_run_options *o, struct argp_state *state)
{
	if (o->sequence && o->mode == TK_MODE_COUNT)
		o->mode = TK_MODE_SEQUENCE;
	if (o->sequence && o->mode != TK_MODE_SEQUENCE)
		argp_error(state, "--sequence cannot be combined with --mode=%s",
		        tk_mode_name(o->mode));
	if (!o->sequence && o->mode == TK_MODE_SEQUENCE)
		argp_error(state, "--mode=sequence: missing --sequence=NAME; `tracker suite list` "
		                  "lists the sequences");
}

error_t tk_run_parse_option(int key, char *arg, struct argp_state *state)
{
	struct tk_run_options *o = state->input;
	switch (key) {
	case TK_RUN_OPT_SUITE:
		o->suite = arg;
		return 0;
	case TK_RUN_OPT_OPTIONS:
		o->backend_options = arg;
		return 0;
	case TK_RUN_OPT_CONFIG:
		o->config_name = arg;
		return 0;
	case TK_RUN_OPT_CORES:
		o->cores = arg;
		return 0;
	case TK_RUN_OPT_HOT:
		o->mode = TK_MODE_HOT;
		return 0;
	case TK_RUN_OPT_MODE:
		o->mode = tk_option_parse_mode(arg, state);
		return 0;
	case TK_RUN_OPT_SEQUENCE:
		o->sequence = arg;
		return 0;
	case TK_RUN_OPT_IDLE_GAP:
		o->idle_gap_s =
		        tk_option_parse_quantity(TK_QUANTITY_TIME, arg, "idle-gap", 0, 1, state);
		return 0;
	case TK_RUN_OPT_SAMPLES:
		o->samples = true;
		return 0;
	case TK_RUN_OPT_NO_VERIFY:
		o->no_verify = true;
		return 0;
	case TK_RUN_OPT_DEVICE:
	case TK_RUN_OPT_DEVICES:
		if (!*arg || (key == TK_RUN_OPT_DEVICE && strchr(arg, ',')))
			argp_error(state, "--device%s=%s: expected %s",
			        key == TK_RUN_OPT_DEVICE ? "" : "s", arg,
			        key == TK_RUN_OPT_DEVICE ? "a number or a UUID"
			                                 : "all, numbers or UUIDs");
		o->devices = arg;
		return 0;
	case TK_RUN_OPT_SETS:
		o->sets = tk_option_parse_quantity(TK_QUANTITY_COUNT, arg, "sets", 0, 4096, state);
		return 0;
	case TK_RUN_OPT_THREADS:
		o->threads = tk_option_parse_quantity(
		        TK_QUANTITY_COUNT, arg, "threads", 0, 65536, state);
		return 0;
	case TK_RUN_OPT_SEED:
		o->seed =
		        tk_option_parse_quantity(TK_QUANTITY_COUNT, arg, "seed", 0, 0x1p53, state);
		return 0;
	case TK_RUN_OPT_CHECK_SEED:
		o->check_seed = tk_option_parse_quantity(
		        TK_QUANTITY_COUNT, arg, "check-seed", 0, 0x1p53, state);
		return 0;
	case TK_RUN_OPT_SECONDS:
		o->seconds = tk_option_parse_quantity(
		        TK_QUANTITY_DURATION, arg, "seconds", 0, 3600, state);
		return 0;
	case TK_RUN_OPT_LIST:
		o->list = true;
		return 0;
	case TK_RUN_OPT_NO_STORE:
		o->no_store = true;
		return 0;
	case 'f':
		o->json = tk_option_parse_json(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN; /* they come together as ARGP_KEY_ARGS */
	case ARGP_KEY_ARGS:
		take_arguments(o, state);
		return 0;
	case ARGP_KEY_END:
		check_sequence(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

void tk_run_check_problem(const struct tk_run_options *o, struct argp_state *state)
{
	if (o->list && o->problem_count)
		argp_error(state, "--list: expected at most one BACKEND or upstream");
	if (!o->list && o->problem_count != 1)
		argp_error(state, "expected BACKEND and one PROBLEM, for instance hopper_gemm "
		                  "gemm:m=4096,n=4096,k=4096,a=f16");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	const struct tk_run_options *o = state->input;
	error_t status = tk_run_parse_option(key, arg, state);
	if (key != ARGP_KEY_END)
		return status;
	if (!o->backend)
		argp_error(state, "missing BACKEND; `tracker doctor` lists the backends");
	if (o->problem_count == 0 && !o->suite)
		argp_error(state, "missing PROBLEM, for instance gemm:m=512,n=512,k=512 or "
		                  "--suite=smoke");
	return 0;
}

const struct argp tk_argp_run = {options, parse_option, "BACKEND [PROBLEM...]",
        "Measure problems on one backend now and print the results. Nothing is stored; `tracker "
        "nightly` stores.\v"
        "BACKEND is the name of a backend of this tracker, UPSTREAM:BACKEND for one of the newest "
        "build of an upstream (its name alone where only one upstream has it), or the path of a "
        "shared object (tk_backend_NAME.so) or of a compiled kernel package (tk_backend_NAME.cuda, "
        ".hip). PROBLEM is written as every command prints it, or op:key=value,... A wrong result "
        "is not timed.\n\n"
        "Exit code: 0 every problem was measured or is unsupported by this backend, 2 usage, 3 "
        "some jobs failed, 4 "
        "nothing could be run.\n\n"
        "Examples:\n"
        "  tracker run cpu gemm:m=512,n=512,k=512\n"
        "  tracker run self:cpu 'gemm f32 512x512x512 nn'\n"
        "  tracker run cpu attention:b=1,h=8,sq=1024,d=64,dtype=bf16 --hot --seconds=2\n"
        "  tracker run openblas --suite=smoke --format=json\n"
        "  tracker run cpu gemm:m=16,n=768,k=768 --sequence=bert-base"};

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
	struct tk_job_result job;
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
	tk_job_result_free(&job);
	return TK_OK;
}

/* Check all problems before measuring: a typo in the last one must not cost the time of the
 * others. */
static int check_problems(const struct tk_run_options *o, struct tk_error *err)
{
	struct tk_problem_spec p;
	for (int i = 0; i < o->problem_count; i++)
		if (tk_problem_parse(&p, o->problems[i], err))
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
	int status = TK_OK;
	for (int i = 0; !status && i < r->o->problem_count; i++)
		status = run_one(r, device, r->o->problems[i], err);
	for (size_t i = 0; !status && r->suite && i < r->suite->count; i++)
		status = run_one(r, device, r->suite->problems[i].text, err);
	return status;
}

static int run_all(struct tk_run_session *r, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; !status && i < r->device_count; i++)
		status = run_device(r, &r->devices_open[i], err);
	return status;
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

int tk_cmd_run(const struct tk_globals *g, int argc, char **argv)
{
	struct tk_run_options o = TK_RUN_OPTIONS_NONE;
	struct tk_config *config = NULL;
	struct tk_error err = {0};
	tk_command_parse(&tk_argp_run, argc, argv, &o);
	int code = tk_command_open(g, "run", -1, &config, NULL);
	if (code)
		return code;
	tk_cancel_install_handlers();
	struct tk_run_session r = {
	        .o = &o, .config = config, .table = tk_run_table_new(g), .json = json_array()};
	int status = prepare(&r, g, &err);
	if (!status)
		status = run_all(&r, &err);
	if (r.measured + r.unsupported + r.failed > 0) {
		struct tk_error printing = {0};
		int printed = tk_run_print(&r, &printing);
		if (!status && printed)
			status = tk_fail(&err, printed, "%s", printing.message);
	}
	code = status ? tk_command_fail("run", &err) : r.failed ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;
	if (r.failed && !g->quiet && has_new_output(&r))
		fprintf(stderr, "tracker run: the output of the backend is in %s\n", r.log_path);
	close_run(&r);
	tk_command_close(config, NULL);
	return code;
}
