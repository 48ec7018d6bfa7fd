/* kernels/OP.html: every backend of an operation, and one page with all problems of a device. */
#include <math.h>

#include "core/measurement_fields.h"
#include "core/vocabulary.h"
#include "site_gen/model/model.h"
#include "site_gen/model/sweeps.h"
#include "site_gen/pages/kernels.h"
#include "site_gen/pages/page.h"
#include "stats/summary.h"

/* ---- one table: problems by backends, ranked ---- */

#define ROWS_MAX 96  /* of a table on the page of an operation */
#define LONG_ROWS 60 /* longer tables are laid out when they come into view */
#define BAR_STEP 2   /* the style sheets have a width for each step, in percent */

/* Metrics beside the median, in the order of data-more of a cell. */
static const char *const metrics[] = {
        "p50", "p95", "p99", "energy", "workspace", "memory", "launch", "build"};
#define METRIC_COUNT (sizeof metrics / sizeof *metrics)
#define WORKSPACE 4
#define SEQUENCES_MAX 32
#define P99_SAMPLES 20 /* fewer say nothing about the 99th percentile */

/* Whether a series is in the table: modes are never ranked together. */
static bool is_contender(const struct tk_kernel_columns *c, const struct tk_site_series *s)
{
	return s->device == c->device && tk_series_is_suite_time(s) && tk_series_has_result(s) &&
	       !strcmp(s->row->mode, c->mode) && !strcmp(s->problem->op, c->op);
}

/* TK_KERNEL_COLUMNS_MAX: the table is full. */
static size_t find_column(struct tk_kernel_columns *c, const struct tk_site_series *s)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->labels[i], s->variant))
			return i;
	if (c->count == TK_KERNEL_COLUMNS_MAX) {
		c->cut = true;
		return TK_KERNEL_COLUMNS_MAX;
	}
	c->styles[c->count] = s->style;
	c->labels[c->count] = s->variant;
	return c->count++;
}

/* Sets the best of a problem. */
static void find_best(struct tk_kernel_problem *p, size_t count)
{
	p->best_ns = INFINITY;
	for (size_t c = 0; c < count; c++) {
		double value = tk_series_newest_value(p->of[c]);
		p->known += isfinite(value);
		if (value < p->best_ns) {
			p->best = p->of[c];
			p->best_ns = value;
		}
	}
}

/* No other backend ties with the best. */
static bool has_clear_best(const struct tk_kernel_problem *p, size_t count, double tie)
{
	bool is_clear = p->known > 1;
	for (size_t c = 0; c < count; c++)
		if (p->of[c] != p->best && isfinite(tk_series_newest_value(p->of[c])))
			is_clear = is_clear &&
			           tk_point_compare(tk_series_last_point(p->best),
			                   tk_series_last_point(p->of[c]), tie) == TK_POINTS_DIFFER;
	return is_clear;
}

/* A space separates them. */
static void set_cell_words(
        struct tk_value *cell, const char *key, const char *const *words, size_t count)
{
	char text[TK_FORMAT_SIZE * METRIC_COUNT], *end = text;
	for (size_t i = 0; i < count; i++) {
		if (i)
			*end++ = ' ';
		end = stpcpy(end, words[i]);
	}
	tk_value_set_len(cell, key, text, (size_t)(end - text));
}

/* Of the samples of the newest night; NAN: too few. */
static double find_p99(struct tk_site *site, const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	double *samples = NULL, p99 = NAN;
	size_t count = 0;
	if (!last || last->n < P99_SAMPLES)
		return NAN;
	if (!tk_store_read_samples(
	            site->model.store, last->run_id, s->row->id, &samples, &count, NULL) &&
	        count >= P99_SAMPLES)
		p99 = tk_quantile_select(samples, count, 0.99);
	free(samples);
	return p99;
}

/* The metrics of the newest run for the script that ranks by them; "-" for unknown ones.
 * with_samples: also what its samples say, which takes a look into the history for each cell. */
static unsigned set_other_metrics(struct tk_site *site, struct tk_value *cell,
        const struct tk_site_series *s, bool with_samples)
{
	const struct tk_point *last = tk_series_last_point(s);
	const struct tk_build_row *build =
	        last ? tk_row_index_find(&site->model.builds_by_id, last->build_id) : NULL;
	double all[METRIC_COUNT];
	all[0] = last && isfinite(last->p95) ? last->value : NAN;
	all[1] = last ? last->p95 : NAN;
	all[2] = with_samples ? find_p99(site, s) : NAN;
	json_auto_t *run = s->last_run ? json_loads(s->last_run->attributes, 0, NULL) : NULL;
	all[3] = tk_measurement_get_number(run, TK_MEASUREMENT_ENERGY_J, NAN);
	all[WORKSPACE] =
	        tk_measurement_get_number(tk_measurement_get_field(run, TK_MEASUREMENT_PLAN),
	                TK_MEASUREMENT_PLAN_WORKSPACE_BYTES, NAN);
	all[5] = tk_measurement_get_number(run, TK_MEASUREMENT_DEVICE_BYTES, NAN);
	all[6] = tk_measurement_get_number(run, TK_MEASUREMENT_LAUNCH_NS, NAN);
	all[METRIC_COUNT - 1] = build && build->wall_s > 0 ? build->wall_s : NAN;
	char numbers[METRIC_COUNT][TK_FORMAT_SIZE];
	const char *words[METRIC_COUNT];
	unsigned any = 0;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		/* no workspace is the best value; no memory means that it was not measured */
		bool known = isfinite(all[i]) && (all[i] > 0 || i == WORKSPACE);
		any |= (unsigned)known << i;
		words[i] = known ? tk_format_digits(all[i], 4, numbers[i]) : "-";
	}
	set_cell_words(cell, "more", words, any ? METRIC_COUNT : 0);
	return any;
}

/* The rate and its interval, for the charts. */
static void set_rates(struct tk_value *cell, const struct tk_site_series *s, double rate)
{
	const struct tk_point *last = tk_series_last_point(s);
	const char *unit;
	double lo = last ? tk_series_rate(s, last->hi, &unit) : NAN,
	       hi = last ? tk_series_rate(s, last->lo, &unit) : NAN;
	char text[3][TK_FORMAT_SIZE];
	const char *const words[] = {tk_format_digits(rate, 4, text[0]),
	        tk_format_digits(isfinite(lo) ? lo : rate, 4, text[1]),
	        tk_format_digits(isfinite(hi) ? hi : rate, 4, text[2])};
	set_cell_words(cell, "data", words, isfinite(rate) ? 3 : 0);
}

static void add_cell(struct tk_site *site, struct tk_value *cells,
        struct tk_kernel_columns *columns, const struct tk_site_series *s, double lead,
        bool is_best)
{
	struct tk_value *cell = tk_value_append(cells);
	const char *rate_unit;
	tk_value_set_flag(cell, "is_there", s != NULL);
	if (!s)
		return;
	double value = tk_series_newest_value(s), ratio = lead / value,
	       rate = tk_series_rate(s, value, &rate_unit);
	tk_value_set_fmt(cell, "href", "../series/%s.html", s->file);
	tk_value_set_flag(cell, "measured", isfinite(value));
	tk_value_set(cell, "outcome",
	        s->failure ? tk_outcome_name(s->failure->outcome) : "not measured");
	tk_tone_set(
	        cell, "tone", s->failure ? tk_outcome_tone(s->failure->outcome) : TK_TONE_QUIET);
	tk_value_set_quantity(cell, "value", value, s->row->unit, "–");
	tk_value_set_quantity(cell, "rate", rate, rate_unit, "");
	tk_value_set_flag(cell, "best", is_best);
	set_rates(cell, s, columns->drawn ? rate : NAN);
	unsigned known = set_other_metrics(site, cell, s, columns->drawn);
	columns->known |= isfinite(value) ? known : 0;
	tk_value_set_flag(cell, "ranked", isfinite(lead));
	bool tied = !is_best && value < lead * (1 + site->options->tie);
	tk_value_set_fmt(cell, "ratio", is_best ? "best" : tied ? "tie" : "%.2f×", value / lead);
	double part = isfinite(ratio) ? fmin(fmax(ratio, 0), 1) : 0;
	tk_value_set_int(cell, "width", BAR_STEP * lround(part * 100 / BAR_STEP));
}

/* Adds the series of one problem. rows NULL: only counts them. */
static void add_problem(struct tk_site *site, struct tk_value *rows,
        struct tk_kernel_columns *columns, const struct tk_kernel_problem *problem)
{
	bool is_clear = has_clear_best(problem, columns->count, site->options->tie);
	double lead = problem->known > 1 ? problem->best_ns : NAN;
	for (size_t c = 0; c < columns->count; c++) {
		double ratio = tk_series_newest_value(problem->of[c]) / lead;
		columns->wins[c] += is_clear && ratio == 1;
		if (isfinite(ratio)) {
			columns->log_ratio[c] += log(ratio);
			columns->shared[c]++;
		}
	}
	if (!rows)
		return;
	struct tk_value *row = tk_value_append(rows);
	tk_value_set_clip(row, "problem", problem->row->title, 110);
	tk_value_set_clip(row, "family", problem->row->family, 60);
	tk_value_set_fmt(row, "x", *problem->sweeps ? "%.9g" : "", problem->at.x);
	tk_value_set_fmt(row, "batch", problem->over_batch ? "%.9g" : "", problem->at.column_order);
	tk_value_set(row, "sweeps", problem->sweeps);
	struct tk_value *cells = tk_value_add_list(row, "cells");
	for (size_t c = 0; c < columns->count; c++)
		add_cell(site, cells, columns, problem->of[c], lead,
		        is_clear && tk_series_newest_value(problem->of[c]) == lead);
}

static void add_heads(struct tk_value *heads, const struct tk_kernel_columns *columns)
{
	for (size_t c = 0; c < columns->count; c++) {
		struct tk_value *head = tk_value_append(heads);
		tk_value_set_clip(head, "name", columns->labels[c], 60);
		tk_value_set_int(head, "style", columns->styles[c]);
		tk_value_set_flag(head, "mean", columns->shared[c] > 0);
		tk_value_set_fmt(head, "geomean", "%.2f×",
		        columns->shared[c] ? exp(columns->log_ratio[c] / (double)columns->shared[c])
		                           : 0.0);
		tk_value_set_int(head, "shared", columns->shared[c]);
		tk_value_set_int(head, "wins", columns->wins[c]);
	}
}

static int compare_by_sweep(const void *a, const void *b)
{
	const struct tk_kernel_problem *x = a, *y = b;
	int d = strcmp(x->at.sweep, y->at.sweep);
	return d ? d : (x->place > y->place) - (x->place < y->place);
}

static int compare_by_sweep_size(const void *a, const void *b)
{
	const struct tk_kernel_problem *x = a, *y = b;
	int d = (x->sweep_size < y->sweep_size) - (x->sweep_size > y->sweep_size);
	return d ? d : compare_by_sweep(a, b);
}

static int compare_by_place(const void *a, const void *b)
{
	const struct tk_kernel_problem *x = a, *y = b;
	return (x->place > y->place) - (x->place < y->place);
}

/* The contenders, by problem and column. */
static size_t list_problems(
        const struct tk_model *m, struct tk_kernel_columns *columns, struct tk_kernel_problem *out)
{
	size_t count = 0;
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		if (!is_contender(columns, s))
			continue;
		if (!count || out[count - 1].row != s->problem) {
			out[count] = (struct tk_kernel_problem){
			        .row = s->problem, .place = count, .shown = true};
			tk_axes_from_problem(s->problem, &out[count++].at);
		}
		size_t c = find_column(columns, s);
		if (c < TK_KERNEL_COLUMNS_MAX)
			out[count - 1].of[c] = s;
	}
	for (size_t i = 0; i < count; i++)
		find_best(&out[i], columns->count);
	return count;
}

/* Keeps the problems of the longest sweeps, because charts need whole sweeps. */
static void choose_rows(struct tk_kernel_problem *all, size_t count)
{
	qsort(all, count, sizeof *all, compare_by_sweep);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && !strcmp(all[i].at.sweep, all[end].at.sweep);)
			end++;
		for (size_t k = i; k < end; k++)
			all[k].sweep_size = end - i;
	}
	qsort(all, count, sizeof *all, compare_by_sweep_size);
	for (size_t i = 0; i < count; i++)
		all[i].shown = i < ROWS_MAX;
	qsort(all, count, sizeof *all, compare_by_place);
}

static void all_path(char path[256], const char *op_file, const struct tk_site_device *device)
{
	snprintf(path, 256, "kernels/%s@%s.html", op_file, device->file);
}

/* The table of one device and mode; nothing without series. */
static int add_table(struct tk_site *site, struct tk_value *devices,
        struct tk_kernel_columns *columns, bool default_mode, struct tk_kernel_page *kernel,
        struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_kernel_problem *problems = tk_malloc((m->series_count + 1) * sizeof *problems);
	size_t count = list_problems(m, columns, problems);
	if (!count) {
		free(problems);
		return 0;
	}
	bool some = !kernel->whole && count > ROWS_MAX;
	if (some)
		choose_rows(problems, count);
	columns->drawn = tk_axes_names(columns->op) && !kernel->whole;
	struct tk_value *o = tk_value_append(devices);
	tk_value_set_clip(o, "device", columns->device->name, 80);
	tk_value_set_clip(o, "device_name", columns->device->row->name, 80);
	tk_value_set(o, "mode", default_mode ? "" : columns->mode);
	tk_value_set_flag(o, "cut", columns->cut);
	struct tk_value *heads = tk_value_add_list(o, "heads");
	struct tk_value *rows = tk_value_add_list(o, "rows");
	columns->drawn = columns->drawn && count > 0;
	if (columns->drawn)
		tk_kernel_set_sweeps(site, o, columns, problems, count);
	for (size_t i = 0; i < count; i++)
		add_problem(site, problems[i].shown ? rows : NULL, columns, &problems[i]);
	tk_kernel_set_groups(site, o, columns, problems, count);
	if (default_mode && !kernel->whole)
		tk_kernel_set_maps(site, o, columns, problems, count);
	free(problems);
	kernel->cut = kernel->cut || some;
	kernel->known |= columns->known;
	char path[256];
	all_path(path, kernel->file, columns->device);
	tk_value_set_fmt(o, "all_href", some ? "../%s" : "", path);
	tk_value_set_int(o, "problems", count);
	tk_value_set_int(o, "rows_max", ROWS_MAX);
	tk_value_set_flag(o, "long", count > LONG_ROWS);
	add_heads(heads, columns);
	bool swept = columns->drawn;
	tk_value_set_flag(o, "swept", swept);
	tk_value_set(o, "x_name", swept ? tk_axes_names(columns->op)->x : "");
	tk_value_set_fmt(o, "anchor", "%s%s%s", columns->device->file, default_mode ? "" : ".",
	        default_mode ? "" : columns->mode);
	tk_value_set_flag(o, "dispatch", false);
	if (default_mode)
		TRY(tk_kernel_set_dispatch(
		        site, o, columns->device, kernel, kernel->whole || !some, err));
	return 0;
}

/* A table for each sequence that series of the kernel were measured in on the device. */
static int add_sequences(struct tk_site *site, struct tk_value *devices,
        struct tk_kernel_page *kernel, const struct tk_site_device *device, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	const char *modes[SEQUENCES_MAX];
	char name[TK_MODE_WORD_SIZE];
	size_t count = 0;
	for (size_t i = 0; i < m->series_count && count < SEQUENCES_MAX; i++) {
		const struct tk_site_series *s = &m->series[i];
		const char *mode = s->row->mode;
		size_t k = 0;
		if (s->device != device || strcmp(s->problem->op, kernel->op) != 0 ||
		        !tk_mode_get_sequence(mode, name))
			continue;
		while (k < count && strcmp(modes[k], mode))
			k++;
		if (k < count)
			continue;
		modes[count++] = mode;
		struct tk_kernel_columns columns = {
		        .device = device, .op = kernel->op, .mode = mode};
		TRY(add_table(site, devices, &columns, false, kernel, err));
	}
	return 0;
}

/* The default mode of the device first. */
static int add_device(struct tk_site *site, struct tk_value *devices, struct tk_kernel_page *kernel,
        const struct tk_site_device *device, struct tk_error *err)
{
	struct tk_kernel_columns usual = {.device = device, .op = kernel->op, .mode = device->mode};
	TRY(add_table(site, devices, &usual, true, kernel, err));
	for (int i = 0; i < TK_MODE_COUNT; i++) {
		struct tk_kernel_columns other = {
		        .device = device, .op = kernel->op, .mode = tk_mode_name((enum tk_mode)i)};
		if (strcmp(other.mode, device->mode))
			TRY(add_table(site, devices, &other, false, kernel, err));
	}
	return add_sequences(site, devices, kernel, device, err);
}

static void set_metrics(struct tk_site *site, struct tk_value *page, unsigned known)
{
	char text[80] = "";
	size_t len = 0;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (known >> i & 1)
			len += (size_t)snprintf(
			        text + len, sizeof text - len, "%s%s", len ? " " : "", metrics[i]);
	tk_value_set(page, "metrics", text);
	tk_value_set_fmt(page, "tie", "%g", site->options->tie);
	tk_value_set_percent(page, "tie_text", site->options->tie, "–");
}

/* ---- the pages ---- */

/* Every problem of an operation on one device. */
static int write_all(struct tk_site *site, const char *op, const char *file,
        const struct tk_site_device *device, struct tk_error *err)
{
	char path[256];
	all_path(path, file, device);
	struct tk_kernel_page kernel = {.op = op, .file = file, .whole = true};
	struct tk_value *page = tk_page_begin(site, path, tk_op_title(op), TK_SECTION_KERNELS);
	tk_value_set_flag(page, "whole", true);
	TRY(tk_page_add_sql(site, page, "kernel", TK_ARGS(op, file), err));
	tk_value_set_fmt(page, "op_href", "%s.html", file);
	struct tk_value *devices = tk_value_add_list(page, "devices");
	TRY(add_device(site, devices, &kernel, device, err));
	set_metrics(site, page, kernel.known);
	return tk_page_finish(site, "kernel", path, err);
}

static int write_op(struct tk_site *site, const char *op, const char *file, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	char path[128];
	snprintf(path, sizeof path, "kernels/%s.html", file);
	struct tk_value *page = tk_page_begin(site, path, tk_op_title(op), TK_SECTION_KERNELS);
	tk_value_set_fmt(page, "description",
	        "%s: the rate of every backend over the problem size, and which one to use for "
	        "which problem.",
	        tk_op_title(op));
	tk_value_set_flag(page, "whole", false);
	TRY(tk_page_add_sql(site, page, "kernel", TK_ARGS(op, file), err));
	struct tk_value *devices = tk_value_add_list(page, "devices");
	bool *cut = tk_calloc(m->device_count + 1, sizeof *cut);
	int status = 0;
	unsigned known = 0;
	for (size_t d = 0; !status && d < m->device_count; d++) {
		struct tk_kernel_page kernel = {.op = op, .file = file};
		status = add_device(site, devices, &kernel, tk_model_ordered_device(m, d), err);
		cut[d] = kernel.cut;
		known |= kernel.known;
	}
	set_metrics(site, page, known);
	if (!status)
		status = tk_page_finish(site, "kernel", path, err);
	for (size_t d = 0; !status && d < m->device_count; d++)
		if (cut[d])
			status = write_all(site, op, file, tk_model_ordered_device(m, d), err);
	free(cut);
	return status;
}

int tk_page_write_kernels(struct tk_site *site, struct tk_error *err)
{
	const char *done = "";
	for (size_t i = 0; i < site->model.series_count; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		if (!strcmp(s->problem->op, done) || !tk_series_is_suite_time(s))
			continue;
		done = s->problem->op;
		TRY(write_op(site, done, s->op_file, err));
	}
	return 0;
}
