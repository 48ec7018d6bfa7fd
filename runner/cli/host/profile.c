/* `tracker profile`: runs the kernels of one problem under the profiler of the device. */
#include <math.h>

#include "base/process.h"
#include "cli/host/run.h"
#include "core/measurement_fields.h"
#include "core/problem.h"
#include "nightly/trace/recorded_run.h"
#include "profile/profile.h"

/* ---- what is printed ------------------------------------------------------------------------- */

#define STALLS_SHOWN 3

static const struct tk_column kernel_columns[] = {
        {"KERNEL", TK_COLUMN_WRAP, "short_name"},
        {"TIME", TK_COLUMN_RIGHT, "time_ns", TK_SHOW_NS},
        {"TENSOR", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "tensor_share", TK_SHOW_PERCENT},
        {"OCCUPANCY", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL,
                "{occupancy_percent:whole}[ of "
                "{limit_percent:whole}] %"},
        {"REGISTERS", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "registers",
                TK_SHOW_WHOLE},
        {"SHARED", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), "shared_bytes",
                TK_SHOW_BYTES},
        {"CYCLES WAITED FOR EACH INSTRUCTION", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL, "waited"},
        {0},
};

static const struct tk_column memory_columns[] = {
        {"MEMORY", TK_COLUMN_LEFT, "name"},
        {"BYTES", TK_COLUMN_RIGHT, "bytes", TK_SHOW_BYTES},
        {"OF COUNTED", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), "{of_counted}x"},
        {"FLOP/BYTE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "intensity"},
        {"BANDWIDTH", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "{gb_per_s@unit}"},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "peak_share",
                TK_SHOW_PERCENT},
        {0},
};

struct figures {
	double time_ns, flops, counted_bytes, peak_gb_per_s;
};

static struct figures find_figures(const struct tk_run_session *r, const struct tk_job_result *job,
        const struct tk_profile *counters)
{
	const struct tk_datasheet *sheet = tk_datasheet_find(r->devices_open[0].model);
	const json_t *result = job->result;
	return (struct figures){.time_ns = tk_profile_sum_time_ns(counters),
	        .flops = tk_measurement_get_number(result, TK_MEASUREMENT_FLOPS, NAN),
	        .counted_bytes = tk_measurement_get_number(result, TK_MEASUREMENT_BYTES, NAN),
	        .peak_gb_per_s = sheet && sheet->memory > 0 ? sheet->memory * 1e3 : NAN};
}

/* Three digits, never an exponent; null where it is not known. */
static json_t *format_ratio(double ratio)
{
	return isfinite(ratio) ? json_sprintf("%.*f",
	                                 ratio < 1     ? 3
	                                 : ratio < 10  ? 2
	                                 : ratio < 100 ? 1
	                                               : 0,
	                                 ratio)
	                       : json_null();
}

/* Without its type and its parameters: "hopper_gemm<kernel_traits<2, 256, 4, 2>, ...>". */
static json_t *shorten_name(const char *name)
{
	int depth = 0;
	size_t length = 0;
	if (strncmp(name, "void ", 5) == 0)
		name += 5;
	for (; name[length] && !(name[length] == '(' && depth == 0 && length > 0); length++)
		depth += (name[length] == '<') - (name[length] == '>');
	return json_sprintf("%.*s", (int)length, name);
}

/* Adds the texts that only the table has. */
static int print_kernels(const struct tk_globals *g, json_t *kernels, struct tk_error *err)
{
	json_t *k, *cycles;
	const char *reason;
	size_t i;

	json_array_foreach (kernels, i, k) {
		AUTO(tk_buf) waited = TK_BUF_INIT;
		int shown = 0;

		json_object_foreach (
		        json_object_get(k, "stall_cycles_per_instruction"), reason, cycles)
			if (shown++ < STALLS_SHOWN)
				tk_buf_add_printf(&waited, "%s%s %.1f", shown > 1 ? ", " : "",
				        reason, json_number_value(cycles));
		json_object_update_new(
		        k, json_pack("{s:o, s:o, s:o, s:o}", "short_name",
		                   shorten_name(tk_record_text(k, "name")), "occupancy_percent",
		                   tk_json_number(100 * tk_record_number(k, "occupancy")),
		                   "limit_percent",
		                   tk_json_number(100 * tk_record_number(k, "occupancy_limit")),
		                   "waited", tk_json_text(tk_buf_cstr(&waited))));
	}
	return tk_records_print(g, kernel_columns, json_incref(kernels), false, err);
}

/* What the problem needs at least, for comparison, and what each memory moved. */
static int print_memories(const struct tk_globals *g, const struct tk_profile *counters,
        const struct figures *f, struct tk_error *err)
{
	json_t *rows = json_array();

	for (int i = -1; i < TK_PROFILE_MEMORIES; i++) {
		const bool counted = i < 0;
		const double bytes = counted ? f->counted_bytes : tk_profile_sum_bytes(counters, i),
		             gb_per_s = counted ? NAN : bytes / f->time_ns;

		if (bytes > 0)
			json_array_append_new(rows,
			        json_pack("{s:s, s:f, s:o, s:o, s:o, s:s, s:o}", "name",
			                counted ? "counted" : tk_profile_memory_names[i], "bytes",
			                bytes, "of_counted",
			                format_ratio(counted ? NAN : bytes / f->counted_bytes),
			                "intensity", format_ratio(f->flops / bytes), "gb_per_s",
			                tk_json_number(gb_per_s), "unit", "gb_per_s", "peak_share",
			                tk_json_number(i == TK_PROFILE_DRAM
			                                       ? gb_per_s / f->peak_gb_per_s
			                                       : NAN)));
	}
	putchar('\n');
	return tk_records_print(g, memory_columns, rows, false, err);
}

static bool are_caches_flushed(const struct tk_run_session *r)
{
	return r->mode != TK_MODE_HOT && r->profile->profiler->flushes_caches;
}

static int print_text(const struct tk_run_session *r, const struct tk_globals *g, json_t *document,
        const struct tk_profile *counters, const struct figures *f, struct tk_error *err)
{
	json_t *kernels = json_object_get(document, "kernels");
	const char *why = *r->profile->why ? r->profile->why : "it wrote no row of them",
	           *caches = r->mode == TK_MODE_HOT  ? "not flushed"
	                     : are_caches_flushed(r) ? "flushed before each run"
	                                             : "cold by other inputs launched before";

	json_object_update_new(document,
	        json_pack("{s:I, s:o, s:s, s:s}", "count", (json_int_t)json_array_size(kernels),
	                "rate", tk_json_number(f->flops > 0 ? f->flops / f->time_ns : NAN),
	                "caches", caches, "why", why));
	tk_record_write(stdout,
	        "{title} by {backend} on {device_model}: {count} kernel{count:plural}, "
	        "{time_ns:ns|–}[, {rate:rate}]; caches {caches}\n\n",
	        document);
	TRY(print_kernels(g, kernels, err));
	TRY(print_memories(g, counters, f, err));
	tk_record_write(
	        stdout, "[\nnot recorded by {profiler}: {not_recorded} ({why})\n]", document);
	return TK_OK;
}

static json_t *encode_kernel(const struct tk_profile_kernel *k)
{
	json_t *stalls = json_object();

	for (size_t i = 0; i < k->stall_count; i++)
		json_object_set_new(
		        stalls, k->stalls[i].reason, tk_json_number(k->stalls[i].cycles));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
	        tk_json_text(k->name), "time_ns", tk_json_number(k->time_ns), "tensor_share",
	        tk_json_number(k->tensor_share), "occupancy", tk_json_number(k->occupancy),
	        "occupancy_limit", tk_json_number(k->occupancy_limit), "l2_hit_share",
	        tk_json_number(k->l2_hit_share), "registers", tk_json_number(k->registers),
	        "shared_bytes", tk_json_number(k->shared_bytes), "dram_bytes",
	        tk_json_number(k->bytes[TK_PROFILE_DRAM]), "l2_bytes",
	        tk_json_number(k->bytes[TK_PROFILE_L2]), "l1_bytes",
	        tk_json_number(k->bytes[TK_PROFILE_L1]), "stall_cycles_per_instruction", stalls);
}

static json_t *encode(const struct tk_run_session *r, const struct tk_problem_spec *problem,
        const struct tk_profile *counters, const struct figures *f)
{
	static const char *const keys[TK_PROFILE_MEMORIES] = {"dram_bytes", "l2_bytes", "l1_bytes"};
	json_t *o = tk_run_encode_head(r, r->o->backend, "tracker-profile/1", problem),
	       *kernels = json_array();

	for (size_t i = 0; i < counters->count; i++)
		json_array_append_new(kernels, encode_kernel(&counters->kernels[i]));
	for (int i = 0; i < TK_PROFILE_MEMORIES; i++)
		json_object_set_new(o, keys[i], tk_json_number(tk_profile_sum_bytes(counters, i)));
	json_object_update_new(
	        o, json_pack("{s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "caches_flushed",
	                   are_caches_flushed(r), "profiler", r->profile->profiler->name,
	                   "not_recorded", tk_json_text(counters->missing), "flops",
	                   tk_json_number(f->flops), "counted_bytes",
	                   tk_json_number(f->counted_bytes), "time_ns", tk_json_number(f->time_ns),
	                   "tensor_share", tk_json_number(tk_profile_mean_tensor_share(counters)),
	                   "kernels", kernels));
	return o;
}

/* ---- running --------------------------------------------------------------------------------- */

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
	TRY(p->program ? TK_OK : tk_profiler_find(p->profiler, &p->program, err));
	if (!p->folder)
		TRY(tk_dir_create_temp("/tmp", "tracker-profile-", &p->folder, err));
	p->profiler->make_command(
	        &p->command, p->program, p->folder, p->pass, r->mode != TK_MODE_HOT);
	return TK_OK;
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

/* Prints and stores; a history that cannot be written to costs no measurement. */
static int report(struct tk_run_session *r, const struct tk_globals *g,
        const struct tk_problem_spec *problem, const struct tk_job_result *job,
        struct tk_error *err)
{
	AUTO(tk_profile) counters = {0};

	TRY(read_counters(r, &counters, err));
	const struct figures f = find_figures(r, job, &counters);
	json_auto_t *result = encode(r, problem, &counters, &f), *shown = json_deep_copy(result);

	TRY(opt.json ? tk_command_print_json(json_incref(result), err)
	             : print_text(r, g, shown, &counters, &f, err));
	return g->store ? tk_run_store_report(r, g->store, TK_KERNEL_REPORT_PROFILE, problem, NULL,
	                          result, NULL, err)
	                : TK_OK;
}

static int profile(struct tk_run_session *r, const struct tk_globals *g, struct tk_error *err)
{
	struct tk_problem_spec problem;
	AUTO(tk_job_result) job = {0};

	if (tk_problem_parse(&problem, opt.problems.items[0], err))
		return err->status = TK_EUSAGE;
	int status = tk_run_open_devices(r, g, err);
	if (!status)
		status = record(r, &problem, &job, err);
	if (status && r->profile->program)
		tk_error_add_context(err, "under %s", r->profile->program);
	TRY(status);
	r->failed = !tk_outcome_has_timing(job.outcome);
	if (r->failed)
		return tk_fail(err, TK_EDATA, "%s: %s", tk_outcome_name(job.outcome), job.message);
	TRY(record_other_passes(r, g, &problem, err));
	return report(r, g, &problem, &job, err);
}

static int run_profile(struct tk_globals *g, struct tk_error *err)
{
	struct tk_run_profile p = {0};

	if (opt.list)
		return tk_run_list_reports(g, TK_KERNEL_REPORT_PROFILE, &opt, err);
	TRY(tk_command_open(g, opt.no_store ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	tk_cancel_install_handlers();
	struct tk_run_session r = {.o = &opt, .config = g->config, .profile = &p};
	int status = profile(&r, g, err);
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
