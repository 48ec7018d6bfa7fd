/* `tracker run`: measures problems on one backend now and prints the results. Nothing is stored. */
#include <math.h>
#include <sys/stat.h>

#include "base/process.h"
#include "cli/host/run.h"
#include "config/suite.h"
#include "core/measurement_fields.h"
#include "core/problem.h"
#include "nightly/plan/suites.h"

struct result {
	const struct tk_job_result *job;
	const char *backend, *device, *model, *arch, *mode, *outcome, *message, *text;
	char title[TK_PROBLEM_TEXT_MAX];
	struct tk_rate rate;
	double latency_ms, tflops, plan_s, wall_s;
	bool has_samples;
};

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *parse_value(const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || !isfinite(x))
		return json_string(text);
	return x == floor(x) && fabs(x) < 0x1p53 ? json_integer((json_int_t)x) : json_real(x);
}

/* The keys of the canonical text; `dtype` is the type of the operands in every operation. */
static json_t *make_problem_size(const char *problem)
{
	const char *colon = strchr(problem, ':');
	AUTO_TEXT text = tk_strdup(colon ? colon + 1 : "");
	char *rest = text;
	json_t *o = json_object();

	for (char *word; (word = strsep(&rest, ","));) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		json_object_set_new(o, word, parse_value(value));
	}
	if (!json_object_get(o, "dtype") && json_object_get(o, "a"))
		json_object_set(o, "dtype", json_object_get(o, "a"));
	return o;
}

/* "sm_90" is 9.0, "sm_103" is 10.3, "sm_90a" is 9.0. */
static json_t *make_compute_capability(const char *arch)
{
	long number = strncmp(arch, "sm_", 3) == 0 ? strtol(arch + 3, NULL, 10) : 0;

	return number < 10 || number > 9999 ? json_null()
	                                    : json_sprintf("%ld.%ld", number / 10, number % 10);
}

/* The first eight members are those of public benchmark runners, so that scripts written for them
 * read the document; `tracker import` reads them too. */
static json_t *make_record(const struct tk_run_session *r, const struct tk_run_device *device,
        const struct tk_problem_spec *problem, const struct tk_job_result *job,
        const struct tk_rate *rate)
{
	bool has_timing = tk_outcome_has_timing(job->outcome);
	double ns = tk_measurement_get_number(job->result, TK_MEASUREMENT_MEDIAN, NAN),
	       plan_s = tk_measurement_get_number(job->result, TK_MEASUREMENT_PLAN_S, NAN);
	json_t *result = job->result ? json_copy(job->result) : json_null();
	char title[TK_PROBLEM_TEXT_MAX];

	if (!r->o->samples && job->result)
		json_object_del(result, tk_measurement_field_key(TK_MEASUREMENT_SAMPLES));
	tk_problem_format_title(problem, title, sizeof title);
	return json_pack(
	        "{s:s%, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:s, s:o, s:o, "
	        "s:o, s:o, s:o}",
	        "kernel", problem->text, strcspn(problem->text, ":"), "gpu_model",
	        tk_json_text(device->model), "arch", tk_json_text(device->arch),
	        "compute_capability", make_compute_capability(device->arch), "problem_size",
	        make_problem_size(problem->text), "latency_ms",
	        tk_json_number(has_timing ? ns / 1e6 : NAN), "tflops",
	        tk_json_number(rate->gflop_per_s / 1e3), "compilation_time",
	        tk_json_number(has_timing ? plan_s : NAN), "backend", tk_json_text(r->o->backend),
	        "device", tk_json_text(device->name), "problem", problem->text, "title", title,
	        "mode", r->mode_word, "outcome", tk_outcome_name(job->outcome), "message",
	        tk_json_text(job->message), "gflop_per_s", tk_json_number(rate->gflop_per_s),
	        "peak_share", tk_json_number(rate->peak_share), "wall_s",
	        tk_json_number(job->wall_s), "result", result);
}

/* ---- table ----------------------------------------------------------------------------------- */

static const char *color_outcome(const json_t *row)
{
	enum tk_outcome outcome = TK_OUTCOME_FAILED;

	tk_outcome_parse(tk_record_text(row, "outcome"), &outcome);
	return outcome == TK_OUTCOME_OK         ? "green"
	       : tk_outcome_has_timing(outcome) ? "yellow"
	                                        : "red";
}

static const char *color_verify(const json_t *row)
{
	const json_t *done = tk_record_get(row, "result.verify.done");

	return !json_is_true(done)                                        ? NULL
	       : json_is_true(tk_record_get(row, "result.verify.passed")) ? "green"
	                                                                  : "red";
}

static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title"},
        {"DEVICE", TK_COLUMN_CUT | TK_COLUMN_VARIED, "device"},
        {"MEDIAN", TK_COLUMN_RIGHT, "result.median", TK_SHOW_NS},
        {"INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(4), "result", TK_SHOW_HALF_WIDTH},
        {"N", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1), "result.n"},
        {"RATE", TK_COLUMN_RIGHT, "gflop_per_s", TK_SHOW_RATE},
        {"IN CONTEXT", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "peak_share",
                TK_SHOW_PERCENT},
        {"VERIFY", TK_COLUMN_DROP(3), .color = color_verify},
        {"OUTCOME", TK_COLUMN_LEFT, "outcome", .color = color_outcome},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL, "message"},
        {0},
};

static void set_verify(struct tk_table *t, const json_t *row)
{
	if (!json_is_true(tk_record_get(row, "result.verify.done")))
		tk_table_set_cell(t, "VERIFY", "-");
	else
		tk_table_set_cell(t, "VERIFY", "%s %.1e of %.1e",
		        json_is_true(tk_record_get(row, "result.verify.passed")) ? "ok" : "wrong",
		        tk_record_number(row, "result.verify.max_error"),
		        tk_record_number(row, "result.verify.tolerance"));
}

/* In context: "1.034 ±0.2 %" of the time alone. */
static void set_figures(struct tk_table *t, const json_t *row)
{
	const double ratio = tk_record_number(row, "result.in_context_ratio");
	char number[TK_FORMAT_SIZE], width[TK_FORMAT_SIZE];

	if (!json_is_real(json_object_get(row, "gflop_per_s")) &&
	        tk_record_number(row, "result.bytes") > 0)
		tk_table_set_value(t, "RATE",
		        tk_record_number(row, "result.bytes") /
		                tk_record_number(row, "result.median"),
		        "gb_per_s");
	if (isfinite(ratio))
		tk_table_set_cell(t, "IN CONTEXT", "%s %s", tk_format_value(ratio, "ratio", number),
		        tk_format_half_width(ratio,
		                tk_record_number(row, "result.in_context_ratio_lo"),
		                tk_record_number(row, "result.in_context_ratio_hi"), width));
}

/* One line per problem, in time order. */
static void print_samples(const json_t *row)
{
	size_t i;
	json_t *x;

	printf("%s ns:", tk_record_text(row, "title"));
	json_array_foreach (tk_record_get(row, "result.samples"), i, x)
		printf(" %.10g", json_number_value(x));
	putchar('\n');
}

static int print_results(struct tk_run_session *r, struct tk_error *err)
{
	if (!r->o->json)
		return tk_table_print(r->table, stdout, err);
	return tk_json_write(json_incref(r->json),
	        JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(10), stdout, err);
}

static void add_result(struct tk_run_session *r, const struct tk_run_device *device,
        const struct tk_problem_spec *problem, const struct tk_job_result *job)
{
	const bool has_timing = tk_outcome_has_timing(job->outcome);
	const struct tk_rate rate = tk_rate_compute(
	        tk_measurement_get_number(job->result, TK_MEASUREMENT_FLOPS, 0),
	        tk_datasheet_find_peak(device->model, problem),
	        has_timing ? tk_measurement_get_number(job->result, TK_MEASUREMENT_MEDIAN, NAN)
	                   : NAN);
	json_t *row = make_record(r, device, problem, job, &rate);

	json_array_append_new(r->json, row);
	tk_table_add_record(r->table, row);
	set_verify(r->table, row);
	if (has_timing)
		set_figures(r->table, row);
	if (r->o->samples && !r->o->json && tk_record_get(row, "result.samples"))
		print_samples(row);
}

/* ---- running --------------------------------------------------------------------------------- */

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
        {TK_OPT_FLAG("referee", 0, &opt.referee, "Let a referee judge each result")},
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
	        .limits = &device->limits,
	        .referee_below_ns = r->o->referee ? INFINITY : 0};
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
	add_result(r, device, &p, &job);
	return TK_OK;
}

/* Checks all problems before measuring: a typo in the last one must not cost the time of the
 * others. */
static int prepare(struct tk_run_session *r, const struct tk_globals *g, struct tk_error *err)
{
	struct tk_problem_spec p;
	int status;

	for (size_t i = 0; i < opt.problems.count; i++)
		if (tk_problem_parse(&p, opt.problems.items[i], err))
			return err->status = TK_EUSAGE;
	if (opt.cores)
		TRY(tk_cpu_list_check(opt.cores, err));
	status = opt.suite ? tk_suite_load(r->config->root, opt.suite, &r->suite, err) : TK_OK;
	if (status)
		return status == TK_ENOTFOUND ? (err->status = TK_EUSAGE) : status;
	return tk_run_open_devices(r, g, err);
}

static int run_all(struct tk_run_session *r, struct tk_error *err)
{
	for (size_t d = 0; d < r->device_count; d++) {
		for (size_t i = 0; i < opt.problems.count; i++)
			TRY(run_one(r, &r->devices_open[d], opt.problems.items[i], err));
		for (size_t i = 0; r->suite && i < r->suite->count; i++)
			TRY(run_one(r, &r->devices_open[d], r->suite->problems[i].text, err));
	}
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
	struct tk_run_session r = {.o = &opt,
	        .config = g->config,
	        .table = tk_table_new(g, columns),
	        .json = json_array()};
	int status;

	tk_cancel_install_handlers();
	status = prepare(&r, g, err);
	if (!status)
		status = run_all(&r, err);
	if (r.measured + r.unsupported + r.failed > 0) {
		struct tk_error printing = {0};
		int printed = print_results(&r, &printing);
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
