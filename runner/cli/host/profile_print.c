/* The results of `tracker profile`. */
#include "cli/host/profile.h"

#include "base/buf.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/markup.h"
#include "cli/rate.h"
#include "cli/table.h"
#include "core/datasheet.h"
#include "core/measurement_fields.h"

#include <math.h>
#include <string.h>

#define STALLS_SHOWN 3

static const struct tk_column kernel_columns[] = {
        {"KERNEL", TK_COLUMN_WRAP},
        {"TIME", TK_COLUMN_RIGHT},
        {"TENSOR", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"OCCUPANCY", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"REGISTERS", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"SHARED", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"CYCLES WAITED FOR EACH INSTRUCTION", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL},
        {NULL, 0},
};

static const struct tk_column memory_columns[] = {
        {"MEMORY", TK_COLUMN_LEFT},
        {"BYTES", TK_COLUMN_RIGHT},
        {"OF COUNTED", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"FLOP/BYTE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"BANDWIDTH", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {NULL, 0},
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

static void set_value(struct tk_table *t, const char *column, double value, const char *unit)
{
	char text[TK_FORMAT_SIZE];
	if (!isnan(value))
		tk_table_set_cell(t, column, "%s", tk_format_value(value, unit, text));
}

/* Three digits, never an exponent. */
static void set_ratio(struct tk_table *t, const char *column, double ratio, const char *unit)
{
	int decimals = ratio < 1 ? 3 : ratio < 10 ? 2 : ratio < 100 ? 1 : 0;
	tk_table_set_cell(t, column, "%.*f%s", decimals, ratio, unit);
}

static void set_percent(struct tk_table *t, const char *column, double share)
{
	char text[TK_FORMAT_SIZE];
	if (!isnan(share))
		tk_table_set_cell(t, column, "%s", tk_format_percent(share, text));
}

static void set_stalls(struct tk_table *t, const struct tk_profile_kernel *k)
{
	struct tk_buf text = TK_BUF_INIT;
	for (size_t i = 0; i < k->stall_count && i < STALLS_SHOWN; i++)
		tk_buf_add_printf(&text, "%s%s %.1f", i ? ", " : "", k->stalls[i].reason,
		        k->stalls[i].cycles);
	if (text.len)
		tk_table_set_cell(
		        t, "CYCLES WAITED FOR EACH INSTRUCTION", "%s", tk_buf_cstr(&text));
	tk_buf_free(&text);
}

/* Without its type and its parameters: "hopper_gemm<kernel_traits<2, 256, 4, 2>, ...>". */
static void set_name(struct tk_table *t, const char *name)
{
	int depth = 0;
	size_t length = 0;
	if (strncmp(name, "void ", 5) == 0)
		name += 5;
	for (; name[length] && !(name[length] == '(' && depth == 0 && length > 0); length++)
		depth += (name[length] == '<') - (name[length] == '>');
	tk_table_set_cell(t, "KERNEL", "%.*s", (int)length, name);
}

static void add_kernel(struct tk_table *t, const struct tk_profile_kernel *k)
{
	tk_table_add_row(t);
	set_name(t, k->name);
	tk_table_set_time(t, "TIME", k->time_ns);
	set_percent(t, "TENSOR", k->tensor_share);
	if (!isnan(k->occupancy) && isnan(k->occupancy_limit))
		tk_table_set_cell(t, "OCCUPANCY", "%.0f %%", k->occupancy * 100);
	else if (!isnan(k->occupancy))
		tk_table_set_cell(t, "OCCUPANCY", "%.0f of %.0f %%", k->occupancy * 100,
		        k->occupancy_limit * 100);
	if (!isnan(k->registers))
		tk_table_set_cell(t, "REGISTERS", "%.0f", k->registers);
	set_value(t, "SHARED", k->shared_bytes, "bytes");
	set_stalls(t, k);
}

static void add_memory(struct tk_table *t, enum tk_profile_memory memory,
        const struct tk_profile *counters, const struct figures *f)
{
	double bytes = tk_profile_sum_bytes(counters, memory);
	double gb_per_s = bytes / f->time_ns;
	if (!(bytes > 0))
		return;
	tk_table_add_row(t);
	tk_table_set_cell(t, "MEMORY", "%s", tk_profile_memory_names[memory]);
	set_value(t, "BYTES", bytes, "bytes");
	if (f->counted_bytes > 0)
		set_ratio(t, "OF COUNTED", bytes / f->counted_bytes, "x");
	if (f->flops > 0)
		set_ratio(t, "FLOP/BYTE", f->flops / bytes, "");
	set_value(t, "BANDWIDTH", gb_per_s, "gb_per_s");
	if (memory == TK_PROFILE_DRAM)
		set_percent(t, "PEAK", gb_per_s / f->peak_gb_per_s);
}

static int print_kernels(
        const struct tk_globals *g, const struct tk_profile *counters, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, kernel_columns);
	for (size_t i = 0; i < counters->count; i++)
		add_kernel(t, &counters->kernels[i]);
	int status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

/* What the problem needs at least, for comparison. */
static void add_counted(struct tk_table *t, const struct figures *f)
{
	if (!(f->counted_bytes > 0))
		return;
	tk_table_add_row(t);
	tk_table_set_cell(t, "MEMORY", "counted");
	set_value(t, "BYTES", f->counted_bytes, "bytes");
	if (f->flops > 0)
		set_ratio(t, "FLOP/BYTE", f->flops / f->counted_bytes, "");
}

static int print_memories(const struct tk_globals *g, const struct tk_profile *counters,
        const struct figures *f, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, memory_columns);
	add_counted(t, f);
	for (int i = 0; i < TK_PROFILE_MEMORIES; i++)
		add_memory(t, i, counters, f);
	putchar('\n');
	int status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static bool are_caches_flushed(const struct tk_run_session *r)
{
	return r->mode != TK_MODE_HOT && r->profile->profiler->flushes_caches;
}

static int print_text(const struct tk_run_session *r, const struct tk_globals *g,
        const struct tk_problem_spec *problem, const struct tk_profile *counters,
        const struct figures *f, struct tk_error *err)
{
	char title[TK_PROBLEM_TEXT_MAX], time[TK_FORMAT_SIZE], rate[TK_FORMAT_SIZE];
	tk_problem_format_title(problem, title, sizeof title);
	printf("%s by %s on %s: %zu kernel%s, %s", title, r->o->backend, r->devices_open[0].model,
	        counters->count, counters->count == 1 ? "" : "s",
	        tk_format_value(f->time_ns, "ns", time));
	if (f->flops > 0)
		printf(", %s", tk_format_value(f->flops / f->time_ns, "gflop_per_s", rate));
	puts(r->mode == TK_MODE_HOT     ? "; caches not flushed\n"
	        : are_caches_flushed(r) ? "; caches flushed before each run\n"
	                                : "; caches cold by other inputs launched before\n");
	int status = print_kernels(g, counters, err);
	if (!status)
		status = print_memories(g, counters, f, err);
	if (!status && *counters->missing)
		printf("\nnot recorded by %s: %s (%s)\n", r->profile->profiler->name,
		        counters->missing,
		        *r->profile->why ? r->profile->why : "it wrote no row of them");
	return status;
}

static json_t *encode_kernel(const struct tk_profile_kernel *k)
{
	json_t *o = json_object(), *stalls = json_object();
	json_object_set_new(o, "name", json_string(k->name));
	json_object_set_new(o, "time_ns", tk_json_number(k->time_ns));
	json_object_set_new(o, "tensor_share", tk_json_number(k->tensor_share));
	json_object_set_new(o, "occupancy", tk_json_number(k->occupancy));
	json_object_set_new(o, "occupancy_limit", tk_json_number(k->occupancy_limit));
	json_object_set_new(o, "l2_hit_share", tk_json_number(k->l2_hit_share));
	json_object_set_new(o, "registers", tk_json_number(k->registers));
	json_object_set_new(o, "shared_bytes", tk_json_number(k->shared_bytes));
	json_object_set_new(o, "dram_bytes", tk_json_number(k->bytes[TK_PROFILE_DRAM]));
	json_object_set_new(o, "l2_bytes", tk_json_number(k->bytes[TK_PROFILE_L2]));
	json_object_set_new(o, "l1_bytes", tk_json_number(k->bytes[TK_PROFILE_L1]));
	for (size_t i = 0; i < k->stall_count; i++)
		json_object_set_new(
		        stalls, k->stalls[i].reason, tk_json_number(k->stalls[i].cycles));
	json_object_set_new(o, "stall_cycles_per_instruction", stalls);
	return o;
}

static json_t *encode(const struct tk_run_session *r, const struct tk_problem_spec *problem,
        const struct tk_profile *counters, const struct figures *f)
{
	char title[TK_PROBLEM_TEXT_MAX];
	json_t *o = json_object(), *kernels = json_array();
	tk_problem_format_title(problem, title, sizeof title);
	json_object_set_new(o, "schema", json_string("tracker-profile/1"));
	json_object_set_new(o, "backend", json_string(r->o->backend));
	json_object_set_new(o, "device", json_string(r->devices_open[0].name));
	json_object_set_new(o, "device_model", json_string(r->devices_open[0].model));
	json_object_set_new(o, "problem", json_string(problem->text));
	json_object_set_new(o, "title", json_string(title));
	json_object_set_new(o, "caches_flushed", json_boolean(are_caches_flushed(r)));
	json_object_set_new(o, "profiler", json_string(r->profile->profiler->name));
	json_object_set_new(o, "not_recorded", tk_json_text(counters->missing));
	json_object_set_new(o, "flops", tk_json_number(f->flops));
	json_object_set_new(o, "counted_bytes", tk_json_number(f->counted_bytes));
	json_object_set_new(o, "time_ns", tk_json_number(f->time_ns));
	json_object_set_new(
	        o, "tensor_share", tk_json_number(tk_profile_mean_tensor_share(counters)));
	for (int i = 0; i < TK_PROFILE_MEMORIES; i++) {
		static const char *const keys[] = {"dram_bytes", "l2_bytes", "l1_bytes"};
		json_object_set_new(o, keys[i], tk_json_number(tk_profile_sum_bytes(counters, i)));
	}
	for (size_t i = 0; i < counters->count; i++)
		json_array_append_new(kernels, encode_kernel(&counters->kernels[i]));
	json_object_set_new(o, "kernels", kernels);
	return o;
}

json_t *tk_profile_encode(const struct tk_run_session *r, const struct tk_problem_spec *problem,
        const struct tk_job_result *job, const struct tk_profile *counters)
{
	const struct figures f = find_figures(r, job, counters);
	return encode(r, problem, counters, &f);
}

int tk_profile_print(const struct tk_run_session *r, const struct tk_globals *g,
        const struct tk_problem_spec *problem, const struct tk_job_result *job,
        const struct tk_profile *counters, struct tk_error *err)
{
	const struct figures f = find_figures(r, job, counters);
	return r->o->json ? tk_command_print_json(encode(r, problem, counters, &f), err)
	                  : print_text(r, g, problem, counters, &f, err);
}
