/* The results of `tracker trace`. */
#include "cli/host/trace.h"

#include "base/format.h"
#include "base/json.h"
#include "cli/table.h"

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

static void set_percent(struct tk_table *t, const char *column, double share)
{
	char text[TK_FORMAT_SIZE];
	if (isfinite(share))
		tk_table_set_cell(t, column, "%s", tk_format_percent(share, text));
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
		tk_table_set_time(t, "TIME", r->head.activity_ns[a]);
		set_percent(t, "SHARE", r->head.activity_ns[a] / r->head.duration_ns);
	}
	int status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static int print_regions(
        const struct tk_trace_result *r, const struct tk_globals *g, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, region_columns);
	for (uint32_t i = 0; i < r->kernel.regions; i++) {
		const struct tk_trace_region_time *m = &r->head.regions[i];
		if (!(m->calls > 0))
			continue;
		tk_table_add_row(t);
		tk_table_set_cell(t, "REGION", "%s", r->kernel.region[i]);
		tk_table_set_cell(t, "KIND", "%s", kind_name(r->kernel.kind[i]));
		tk_table_set_cell(t, "ENTERED", "%.0f", m->calls);
		tk_table_set_time(t, "TIME", m->time_ns);
		set_percent(t, "OF ITS GROUPS", m->share);
		tk_table_set_time(t, "EXPOSED", m->exposed_ns);
	}
	putchar('\n');
	int status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static void print_sentence(const struct tk_trace_result *r)
{
	const struct tk_trace_comparison *c = &r->comparison;
	char change[TK_FORMAT_SIZE], region[TK_FORMAT_SIZE + 1], exposed[TK_FORMAT_SIZE + 1];
	if (!c->duration.is_changed) {
		printf("%s: no change of its time (%s against %s)\n\n", r->kernel.name,
		        tk_format_value(c->duration.head_ns, "ns", change),
		        tk_format_value(c->duration.base_ns, "ns", region));
		return;
	}
	double share = c->duration.change_ns / c->duration.base_ns;
	printf("%s: %s %s", r->kernel.name, tk_format_percent(fabs(share), change),
	        share > 0 ? "slower" : "faster");
	if (c->cause >= 0)
		printf("; %s %s, of which %s are exposed", r->kernel.region[c->cause],
		        signed_time(c->regions[c->cause].change_ns, region),
		        signed_time(c->exposed[c->cause].change_ns, exposed));
	puts("\n");
}

static void add_change(struct tk_table *t, const char *name, const char *kind,
        const struct tk_trace_change *c, const struct tk_trace_change *exposed)
{
	char change[TK_FORMAT_SIZE + 1], low[TK_FORMAT_SIZE + 1], high[TK_FORMAT_SIZE + 1];
	tk_table_add_row(t);
	tk_table_set_cell(t, "REGION", "%s", name);
	tk_table_set_cell(t, "KIND", "%s", kind);
	tk_table_set_time(t, "BASE", c->base_ns);
	tk_table_set_time(t, "HEAD", c->head_ns);
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
	int status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

/* What the regions that are exposed add up to, against the time without records. */
static double regions_ns(const struct tk_trace_summary *s)
{
	double sum = 0;
	for (int a = 0; a < TK_TRACE_DOES_OTHER; a++)
		sum += s->activity_ns[a];
	return sum;
}

static void print_head(const struct tk_trace_result *k)
{
	char time[TK_FORMAT_SIZE], record[TK_FORMAT_SIZE];
	printf("%s: %s on %zu multiprocessors at %.0f MHz; %.0f records of %s", k->kernel.name,
	        tk_format_value(k->head.duration_ns, "ns", time), k->head.multiprocessors,
	        k->head.clock_mhz, k->head.recorded,
	        tk_format_value(k->head.record_ns, "ns", record));
	if (k->head.groups_with_loss > 0)
		printf(", the first ones of %.0f groups lost", k->head.groups_with_loss);
	else
		fputs(", none lost", stdout);
	if (k->kernel.blocks < k->kernel.launched)
		printf("; the first %u of %u blocks", k->kernel.blocks, k->kernel.launched);
	else if (!k->kernel.launched)
		printf("; the first %u blocks", k->kernel.blocks);
	puts("\n");
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
	bool compares = isnan(r->untraced_ns);
	int status = TK_OK;
	tk_problem_format_title(&r->problem, title, sizeof title);
	printf("%s by %s on %s", title, r->o->run.backend, r->device_model);
	if (r->revisions)
		print_revisions(r->revisions);
	else if (compares)
		puts("\n");
	else
		printf(": %s, %s while it records (%+.1f %%)\n\n",
		        tk_format_value(r->untraced_ns, "ns", without),
		        tk_format_value(r->traced_ns, "ns", with),
		        (r->traced_ns / r->untraced_ns - 1) * 100);
	for (size_t i = 0; !status && i < r->count; i++) {
		if (i)
			putchar('\n');
		if (compares) {
			status = print_changes(&r->results[i], g, err);
			continue;
		}
		print_head(&r->results[i]);
		status = print_activities(&r->results[i], g, err);
		if (!status)
			status = print_regions(&r->results[i], g, err);
	}
	return status;
}

static json_t *encode_change(const struct tk_trace_change *c)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:b}", "base_ns", tk_json_number(c->base_ns),
	        "head_ns", tk_json_number(c->head_ns), "change_ns", tk_json_number(c->change_ns),
	        "lo_ns", tk_json_number(c->lo_ns), "hi_ns", tk_json_number(c->hi_ns), "changed",
	        c->is_changed);
}

static json_t *encode_regions(const struct tk_trace_result *r, bool compares)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < r->kernel.regions; i++) {
		const struct tk_trace_region_time *m = &r->head.regions[i];
		json_t *o = json_object();
		json_object_set_new(o, "name", tk_json_text(r->kernel.region[i]));
		json_object_set_new(o, "kind", json_string(kind_name(r->kernel.kind[i])));
		json_object_set_new(o, "entered", tk_json_number(m->calls));
		json_object_set_new(o, "time_ns", tk_json_number(m->time_ns));
		json_object_set_new(o, "share_of_groups", tk_json_number(m->share));
		json_object_set_new(o, "exposed_ns", tk_json_number(m->exposed_ns));
		if (compares) {
			json_object_set_new(o, "change", encode_change(&r->comparison.regions[i]));
			json_object_set_new(
			        o, "exposed_change", encode_change(&r->comparison.exposed[i]));
		}
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *encode_kernel(const struct tk_trace_result *r, bool compares)
{
	json_t *o = json_object(), *activities = json_object();
	json_object_set_new(o, "name", tk_json_text(r->kernel.name));
	json_object_set_new(o, "duration_ns", tk_json_number(r->head.duration_ns));
	json_object_set_new(o, "regions_ns", tk_json_number(regions_ns(&r->head)));
	json_object_set_new(o, "tail_ns", tk_json_number(r->head.tail_ns));
	json_object_set_new(o, "clock_mhz", tk_json_number(r->head.clock_mhz));
	json_object_set_new(
	        o, "multiprocessors", json_integer((json_int_t)r->head.multiprocessors));
	json_object_set_new(o, "groups", json_integer((json_int_t)r->head.groups));
	json_object_set_new(o, "blocks", json_integer(r->kernel.blocks));
	json_object_set_new(o, "blocks_launched",
	        r->kernel.launched ? json_integer(r->kernel.launched) : json_null());
	json_object_set_new(o, "records", tk_json_number(r->head.recorded));
	json_object_set_new(o, "groups_with_loss", tk_json_number(r->head.groups_with_loss));
	json_object_set_new(o, "record_ns", tk_json_number(r->head.record_ns));
	for (int a = 0; a < TK_TRACE_ACTIVITIES; a++)
		json_object_set_new(activities, tk_trace_activity_names[a],
		        tk_json_number(r->head.activity_ns[a]));
	json_object_set_new(o, "multiprocessor_ns", activities);
	json_object_set_new(o, "regions", encode_regions(r, compares));
	if (compares) {
		int cause = r->comparison.cause;
		json_object_set_new(o, "change", encode_change(&r->comparison.duration));
		json_object_set_new(o, "cause",
		        cause < 0 ? json_null() : tk_json_text(r->kernel.region[cause]));
	}
	return o;
}

json_t *tk_trace_encode(const struct tk_trace_report *r)
{
	char title[TK_PROBLEM_TEXT_MAX];
	bool compares = isnan(r->untraced_ns);
	json_t *o = json_object(), *kernels = json_array();
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
	json_object_set_new(o, "runs", json_integer((json_int_t)r->runs));
	json_object_set_new(o, "untraced_ns", tk_json_number(r->untraced_ns));
	json_object_set_new(o, "traced_ns", tk_json_number(r->traced_ns));
	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(kernels, encode_kernel(&r->results[i], compares));
	json_object_set_new(o, "kernels", kernels);
	return o;
}

int tk_trace_print(
        const struct tk_trace_report *r, const struct tk_globals *g, struct tk_error *err)
{
	return r->o->run.json ? tk_command_print_json(tk_trace_encode(r), err)
	                      : print_text(r, g, err);
}
