/* pytest-benchmark: machine_info, commit_info and benchmarks with their statistics in seconds. */
#include "base/try.h"
#include "store/import/import.h"
#include <math.h>
#include <string.h>

struct reader {
	const struct tk_import_file *file;
	struct tk_import_sink *sink;
	json_t *header, *attributes;
};

static bool sniff(const struct tk_import_file *f)
{
	return strstr(f->head, "\"machine_info\"") &&
	       (strstr(f->head, "\"commit_info\"") || strstr(f->head, "\"benchmarks\""));
}

static int read_stats(const struct reader *r, const struct tk_import_path *path,
        const json_t *stats, struct tk_import_point *p, struct tk_error *err)
{
	double rounds, mean;

	TRY(tk_import_get_number(r->file, path, stats, "rounds", &rounds, err));
	TRY(tk_import_get_number(r->file, path, stats, "median", &p->value, err));
	TRY(tk_import_get_number(r->file, path, stats, "q1", &p->q25, err));
	TRY(tk_import_get_number(r->file, path, stats, "q3", &p->q75, err));
	TRY(tk_import_get_number(r->file, path, stats, "min", &p->min, err));
	TRY(tk_import_get_number(r->file, path, stats, "mean", &mean, err));
	if (!isfinite(p->value))
		p->value = mean;
	p->n = rounds > 0 && rounds < 1e15 ? (int64_t)rounds : 1;
	return 0;
}

static int visit(void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err)
{
	static const char *const known[] = {"fullname", "name", "stats", NULL};
	struct reader *r = arg;
	const json_t *stats = json_object_get(value, "stats");
	struct tk_import_point p = TK_IMPORT_POINT(NULL, "s", NAN);
	const char *name;
	json_t *rest = NULL;

	TRY(tk_import_get_text(r->file, path, value, "fullname", &p.name, err));
	TRY(tk_import_get_text(r->file, path, value, "name", &name, err));
	TRY(tk_import_get_text(r->file, path, value, "group", &p.family, err));
	p.name = p.name && *p.name ? p.name : name;
	if (!p.name || !*p.name)
		return tk_import_fail(r->file, path, err, ".fullname: is missing");
	if (!json_is_object(stats))
		return tk_import_fail_expected(r->file, path, err, "an object", stats, ".stats");
	if (read_stats(r, path, stats, &p, err))
		return tk_error_add_context(err, "stats");
	tk_import_copy_unknown(&rest, value, known);
	tk_import_set_attribute(r->attributes, "benchmarks", p.name, rest);
	return tk_import_point(r->sink, 0, &p, err);
}

static int set_place(struct reader *r, struct tk_error *err)
{
	const json_t *machine = json_object_get(r->header, "machine_info"),
	             *cpu = json_object_get(machine, "cpu");
	struct tk_import_place place = {
	        .machine = json_string_value(json_object_get(machine, "node")),
	        .arch = json_string_value(json_object_get(machine, "machine")),
	        .device = json_string_value(json_object_get(cpu, "brand_raw")),
	        .upstream = json_string_value(
	                json_object_get(json_object_get(r->header, "commit_info"), "project"))};

	if (!place.device)
		place.device = json_string_value(json_object_get(cpu, "brand"));
	return tk_import_place(r->sink, &place, err);
}

static int put_run(struct reader *r, struct tk_error *err)
{
	const json_t *commit = json_object_get(r->header, "commit_info");
	const char *times[] = {json_string_value(json_object_get(commit, "time")),
	        json_string_value(json_object_get(commit, "author_time")),
	        json_string_value(json_object_get(r->header, "datetime"))};
	struct tk_import_commit c = {.rev = json_string_value(json_object_get(commit, "id"))};
	bool found = false;

	if (r->sink->options->rev)
		c.rev = r->sink->options->rev;
	for (size_t i = 0; i < 3 && !found && !r->sink->options->at_s; i++)
		found = times[i] && tk_import_parse_time(times[i], &c.time_s);
	if (!found)
		c.time_s = tk_import_get_file_time(r->file, r->sink);
	json_object_update(r->attributes, r->header);
	return tk_import_add_run(r->sink, &c, r->attributes, NULL, err);
}

static int read_file(struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	TRY(tk_import_load(f, err));
	json_auto_t *header = tk_import_get_header(f, "benchmarks"), *attributes = json_object();
	struct reader r = {.file = f, .sink = sink, .header = header, .attributes = attributes};

	TRY(set_place(&r, err));
	TRY(tk_import_each(
	        "benchmarks", json_object_get(f->document, "benchmarks"), visit, &r, err));
	return put_run(&r, err);
}

const struct tk_import_format tk_import_pytest_benchmark = {sniff, read_file, NULL};
