/* The results of `tracker trace`. */
#include "cli/host/trace.h"

#include "base/json.h"
#include "base/present.h"
#include "cli/table.h"
#include "core/kernel_report.h"

#include <math.h>

static const struct tk_column activity_columns[] = {
        {"A MULTIPROCESSOR", TK_COLUMN_LEFT},
        {"TIME", TK_COLUMN_RIGHT},
        {"SHARE", TK_COLUMN_RIGHT},
        {NULL, 0},
};

static const struct tk_column region_columns[] = {
        {"REGION", TK_COLUMN_LEFT},
        {"KIND", TK_COLUMN_LEFT | TK_COLUMN_DROP(1)},
        {"ENTERED", TK_COLUMN_RIGHT | TK_COLUMN_DROP(2)},
        {"TIME", TK_COLUMN_RIGHT},
        {"OF ITS GROUPS", TK_COLUMN_RIGHT},
        {"EXPOSED", TK_COLUMN_RIGHT},
        {"CRITICAL PATH", TK_COLUMN_RIGHT},
        {NULL, 0},
};

static const struct tk_column change_columns[] = {
        {"REGION", TK_COLUMN_LEFT},
        {"KIND", TK_COLUMN_LEFT | TK_COLUMN_DROP(1)},
        {"BASE", TK_COLUMN_RIGHT},
        {"HEAD", TK_COLUMN_RIGHT},
        {"CHANGE", TK_COLUMN_RIGHT},
        {"95 % INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(2)},
        {"EXPOSED", TK_COLUMN_RIGHT},
        {NULL, 0},
};

static const char *kind_name(uint32_t kind)
{
	return tk_trace_activity_names[tk_trace_kind_activity(kind)];
}

static const char *signed_time(double ns, char text[TK_FORMAT_SIZE + 1])
{
	char time[TK_FORMAT_SIZE];
	snprintf(text, TK_FORMAT_SIZE + 1, "%s%s", ns < 0 ? "-" : "+",
	        tk_format_value(fabs(ns), "ns", time));
	return text;
}

static int print_activities(
        const struct tk_trace_result *r, const struct tk_globals *g, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, activity_columns);
	for (int a = 0; a < TK_TRACE_ACTIVITIES; a++) {
		if (!(r->head.activity_ns[a] > 0))
			continue;
		tk_table_add_row(t);
		tk_table_set_cell(t, "A MULTIPROCESSOR", "%s", tk_trace_activity_names[a]);
		tk_table_set_value(t, "TIME", r->head.activity_ns[a], "ns");
		tk_table_set_value(t, "SHARE", r->head.activity_ns[a] / r->head.duration_ns, "%");
	}
	return tk_table_finish(t, stdout, err);
}

static void print_tiles(const struct tk_trace_critical_path *c)
{
	char mean[TK_FORMAT_SIZE], shortest[TK_FORMAT_SIZE], longest[TK_FORMAT_SIZE];
	if (c->tiles > 0)
		printf("%.0f tiles of %s in the mean, %s to %s; the critical path is that of a "
		       "tile\n",
		        c->tiles, tk_format_value(c->tile.duration_ns, "ns", mean),
		        tk_format_value(c->shortest_tile_ns, "ns", shortest),
		        tk_format_value(c->longest_tile_ns, "ns", longest));
}

static int print_regions(
        const struct tk_trace_result *r, const struct tk_globals *g, struct tk_error *err)
{
	const struct tk_trace_critical_path *c = &r->head.critical;
	const struct tk_trace_path *path = c->tiles > 0 ? &c->tile : &c->block;
	struct tk_table *t = tk_table_new(g, region_columns);
	double path_ns[TK_TRACE_REGIONS_MAX], record_ns = tk_trace_result_record_ns(r);
	double all_ns = path->duration_ns - path->records * record_ns;
	tk_trace_path_correct(path, r->kernel.regions, record_ns, path_ns);
	for (uint32_t i = 0; i < r->kernel.regions; i++) {
		const struct tk_trace_region_time *m = &r->head.regions[i];
		if (!(m->calls > 0))
			continue;
		tk_table_add_row(t);
		tk_table_set_cell(t, "REGION", "%s", r->kernel.region[i]);
		tk_table_set_cell(t, "KIND", "%s", kind_name(r->kernel.kind[i]));
		tk_table_set_cell(t, "ENTERED", "%.0f", m->calls);
		tk_table_set_value(t, "TIME", m->time_ns, "ns");
		tk_table_set_value(t, "OF ITS GROUPS", m->share, "%");
		tk_table_set_value(t, "EXPOSED", m->exposed_ns, "ns");
		tk_table_set_value(t, "CRITICAL PATH", path_ns[i] / all_ns, "%");
	}
	putchar('\n');
	return tk_table_finish(t, stdout, err);
}

static void print_sentence(const struct tk_trace_result *r)
{
	json_t *kernel = tk_trace_result_encode(r, true);
	struct tk_kernel_change change;
	char text[TK_KERNEL_CHANGE_SIZE];
	tk_kernel_change_read(kernel, &change);
	printf("%s\n\n", tk_kernel_change_format(&change, text));
	json_decref(kernel);
}

static void add_change(struct tk_table *t, const char *name, const char *kind,
        const struct tk_trace_change *c, const struct tk_trace_change *exposed)
{
	char change[TK_FORMAT_SIZE + 1], low[TK_FORMAT_SIZE + 1], high[TK_FORMAT_SIZE + 1];
	tk_table_add_row(t);
	tk_table_set_cell(t, "REGION", "%s", name);
	tk_table_set_cell(t, "KIND", "%s", kind);
	tk_table_set_value(t, "BASE", c->base_ns, "ns");
	tk_table_set_value(t, "HEAD", c->head_ns, "ns");
	tk_table_set_cell(
	        t, "CHANGE", "%s%s", signed_time(c->change_ns, change), c->is_changed ? " *" : "");
	tk_table_set_cell(t, "95 % INTERVAL", "%s to %s", signed_time(c->lo_ns, low),
	        signed_time(c->hi_ns, high));
	if (exposed)
		tk_table_set_cell(t, "EXPOSED", "%s%s", signed_time(exposed->change_ns, change),
		        exposed->is_changed ? " *" : "");
}

static int print_changes(
        const struct tk_trace_result *r, const struct tk_globals *g, struct tk_error *err)
{
	const struct tk_trace_comparison *c = &r->comparison;
	struct tk_table *t = tk_table_new(g, change_columns);
	print_sentence(r);
	add_change(t, "the kernel", "", &c->duration, NULL);
	for (uint32_t i = 0; i < r->kernel.regions; i++)
		if (r->head.regions[i].calls > 0 || r->base.regions[i].calls > 0)
			add_change(t, r->kernel.region[i], kind_name(r->kernel.kind[i]),
			        &c->regions[i], &c->exposed[i]);
	return tk_table_finish(t, stdout, err);
}

/* Negative: the build that records is faster. */
static const char *format_cost(double ns, char text[TK_FORMAT_SIZE + 1])
{
	if (ns < 0)
		return signed_time(ns, text);
	return tk_format_value(ns, "ns", text);
}

static void print_head(const struct tk_trace_result *k)
{
	char time[TK_FORMAT_SIZE], record[TK_FORMAT_SIZE + 1], corrected[TK_FORMAT_SIZE];
	bool has_cost = isfinite(k->head.record_ns);
	printf("%s: %s on %zu multiprocessors at %.0f MHz; %.0f records", k->kernel.name,
	        tk_format_value(k->head.duration_ns, "ns", time), k->head.multiprocessors,
	        k->head.clock_mhz, k->head.recorded);
	if (has_cost)
		printf(" of %s in a row", tk_format_value(k->head.record_ns, "ns", record));
	if (k->head.groups_with_loss > 0)
		printf(", some of %.0f groups lost", k->head.groups_with_loss);
	else
		fputs(", none lost", stdout);
	if (k->kernel.blocks < k->kernel.launched)
		printf("; the first %u of %u blocks", k->kernel.blocks, k->kernel.launched);
	else if (!k->kernel.launched)
		printf("; the first %u blocks", k->kernel.blocks);
	putchar('\n');
	if (isfinite(k->record_in_place_ns))
		printf("in place a record costs %s; without them the kernel takes %s\n",
		        format_cost(k->record_in_place_ns, record),
		        tk_format_value(k->head.corrected_ns, "ns", corrected));
	print_tiles(&k->head.critical);
	putchar('\n');
}

static void print_revisions(const struct tk_ab_revisions *r)
{
	putchar('\n');
	for (int k = 0; k < TK_AB_SIDES; k++)
		printf("%s: %s (%.12s %s)\n", r->side[k].name, r->side[k].spec,
		        r->side[k].revision.id, r->side[k].revision.subject);
	putchar('\n');
}

static int print_text(
        const struct tk_trace_report *r, const struct tk_globals *g, struct tk_error *err)
{
	char title[TK_PROBLEM_TEXT_MAX], with[TK_FORMAT_SIZE], without[TK_FORMAT_SIZE];
	bool compares = tk_trace_results_compare(&r->results);
	int status = TK_OK;
	tk_problem_format_title(&r->problem, title, sizeof title);
	printf("%s by %s on %s", title, r->o->run.backend, r->device_model);
	if (r->revisions)
		print_revisions(r->revisions);
	else if (compares)
		puts("\n");
	else
		printf(": %s, %s while it records (%+.1f %%)\n\n",
		        tk_format_value(r->results.untraced_ns, "ns", without),
		        tk_format_value(r->results.traced_ns, "ns", with),
		        tk_percent_tenths(r->results.traced_ns / r->results.untraced_ns - 1));
	for (size_t i = 0; !status && i < r->results.count; i++) {
		if (i)
			putchar('\n');
		if (compares) {
			status = print_changes(&r->results.at[i], g, err);
			continue;
		}
		print_head(&r->results.at[i]);
		status = print_activities(&r->results.at[i], g, err);
		if (!status)
			status = print_regions(&r->results.at[i], g, err);
	}
	return status;
}

json_t *tk_trace_encode(const struct tk_trace_report *r)
{
	char title[TK_PROBLEM_TEXT_MAX];
	json_t *o = json_object();
	tk_problem_format_title(&r->problem, title, sizeof title);
	json_object_set_new(o, "schema", json_string("tracker-trace/1"));
	json_object_set_new(o, "backend", tk_json_text(r->o->run.backend));
	json_object_set_new(o, "device", tk_json_text(r->device));
	json_object_set_new(o, "device_model", tk_json_text(r->device_model));
	json_object_set_new(o, "problem", json_string(r->problem.text));
	json_object_set_new(o, "title", json_string(title));
	if (r->revisions)
		for (int k = 0; k < TK_AB_SIDES; k++)
			json_object_set_new(o, r->revisions->side[k].name,
			        tk_json_text(r->revisions->side[k].revision.id));
	tk_trace_results_encode(&r->results, o);
	return o;
}

int tk_trace_print(
        const struct tk_trace_report *r, const struct tk_globals *g, struct tk_error *err)
{
	return r->o->run.json ? tk_command_print_json(tk_trace_encode(r), err)
	                      : print_text(r, g, err);
}
