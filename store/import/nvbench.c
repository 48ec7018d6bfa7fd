/* NVBench: benchmarks, each with states (one combination of its axes on one device), each with
 * summaries by tag. */
#include "base/memory.h"
#include "base/try.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const struct tk_import_file *file;
	struct tk_import_sink *sink;
	json_t *header, *attributes;
	const char *executable;
	struct tk_buf name;
};

/* A value of a state by the tag of its summary; the first that is there is taken where a metric has
 * several. */
static const struct {
	const char *tag, *metric, *unit;
} summaries[] = {{"nv/cold/time/gpu/median", "time", "s"}, {"nv/cold/time/gpu/mean", "time", "s"},
        {"nv/cold/time/cpu/median", "cpu_time", "s"}, {"nv/cold/time/cpu/mean", "cpu_time", "s"},
        {"nv/batch/time/gpu/mean", "batch_time", "s"},
        {"nv/cpu_only/time/cpu/mean", "cpu_time", "s"},
        {"nv/cold/bw/global/bytes_per_second", "bandwidth", "bytes_per_second"},
        {"nv/cold/bw/item_rate", "items", "items/s"}};

static bool sniff(const struct tk_import_file *f)
{
	return strstr(f->head, "\"nvbench\"") ||
	       (strstr(f->head, "\"benchmarks\"") && strstr(f->head, "\"sm_version\""));
}

/* NVBench writes 64-bit numbers as strings. NAN: it is none. */
static double number(const json_t *value)
{
	char *end;

	if (json_is_number(value))
		return json_number_value(value);
	if (!json_is_string(value))
		return NAN;
	double x = strtod(json_string_value(value), &end);

	return *end || end == json_string_value(value) ? NAN : x;
}

/* NULL: the state has no such summary. */
static const json_t *find_summary(const json_t *state, const char *tag)
{
	const json_t *list = json_object_get(state, "summaries"), *one;
	size_t i;

	json_array_foreach ((json_t *)list, i, one) {
		const char *its = json_string_value(json_object_get(one, "tag"));

		if (its && !strcmp(its, tag))
			return json_object_get(
			        json_array_get(json_object_get(one, "data"), 0), "value");
	}
	return NULL;
}

static double summary(const json_t *state, const char *tag)
{
	return number(find_summary(state, tag));
}

/* Each summary that becomes a point has a number, in digits or as a text ("nan" too). */
static int check_summaries(const struct reader *r, const struct tk_import_path *path, size_t state,
        const json_t *object, struct tk_error *err)
{
	const json_t *list = json_object_get(object, "summaries");

	if (list && !json_is_null(list) && !json_is_array(list))
		return tk_import_fail_expected(
		        r->file, path, err, "a list", list, ".states[%zu].summaries", state);
	for (size_t i = 0; i < sizeof(summaries) / sizeof(summaries[0]); i++) {
		const json_t *value = find_summary(object, summaries[i].tag);
		const char *text = json_string_value(value);
		char *end;

		if (!value || json_is_null(value) || json_is_number(value) ||
		        (text && *text && (strtod(text, &end), !*end)))
			continue;
		return tk_import_fail_expected(r->file, path, err, "a number", value,
		        ".states[%zu]: %s", state, summaries[i].tag);
	}
	return 0;
}

/* Every summary that is no point. */
static json_t *other_summaries(const json_t *state)
{
	const json_t *list = json_object_get(state, "summaries"), *one;
	json_t *rest = json_object();
	size_t i, k;

	json_array_foreach ((json_t *)list, i, one) {
		const char *tag = json_string_value(json_object_get(one, "tag"));
		json_t *value =
		        json_object_get(json_array_get(json_object_get(one, "data"), 0), "value");

		for (k = 0; tag && k < sizeof(summaries) / sizeof(summaries[0]) &&
		            strcmp(summaries[k].tag, tag);
		        k++)
			;
		if (tag && value && k == sizeof(summaries) / sizeof(summaries[0]))
			json_object_set(rest, tag, value);
	}
	return rest;
}

static void set_name(struct reader *r, const char *benchmark, const json_t *state)
{
	const json_t *axes = json_object_get(state, "axis_values"), *axis;
	size_t i;

	tk_buf_clear(&r->name);
	tk_buf_add_str(&r->name, benchmark);
	json_array_foreach ((json_t *)axes, i, axis) {
		const char *name = json_string_value(json_object_get(axis, "name"));
		json_t *value = json_object_get(axis, "value");
		char *text = json_is_string(value) ? tk_strdup(json_string_value(value))
		             : value               ? json_dumps(value, JSON_ENCODE_ANY)
		                                   : NULL;

		if (name && text)
			tk_buf_add_printf(&r->name, " %s=%s", name, text);
		free(text);
	}
}

static int place_on(struct reader *r, const json_t *state, struct tk_error *err)
{
	const json_t *devices = json_object_get(r->header, "devices"), *one;
	double wanted = number(json_object_get(state, "device"));
	struct tk_import_place place = {.upstream = r->executable};
	char arch[32] = "";
	size_t i;

	json_array_foreach ((json_t *)devices, i, one)
		if (number(json_object_get(one, "id")) == wanted) {
			double sm = number(json_object_get(one, "sm_version"));

			place.device = json_string_value(json_object_get(one, "name"));
			if (sm > 0 && sm < 1e5)
				snprintf(arch, sizeof(arch), "sm_%.0f", sm / 10);
			place.arch = arch;
		}
	return tk_import_place(r->sink, &place, err);
}

static int put_state(struct reader *r, const struct tk_import_path *path, const char *benchmark,
        size_t index, const json_t *state, struct tk_error *err)
{
	const char *done = "";

	TRY(check_summaries(r, path, index, state, err));
	TRY(place_on(r, state, err));
	if (json_is_true(json_object_get(state, "is_skipped"))) {
		tk_import_count_missing(r->sink, benchmark);
		return 0;
	}
	set_name(r, benchmark, state);
	for (size_t i = 0; i < sizeof(summaries) / sizeof(summaries[0]); i++) {
		struct tk_import_point p = TK_IMPORT_POINT(
		        tk_buf_cstr(&r->name), summaries[i].unit, summary(state, summaries[i].tag));
		double n = summary(state, "nv/cold/sample_size");

		if (!isfinite(p.value) || !strcmp(done, summaries[i].metric))
			continue;
		p.metric = done = summaries[i].metric;
		p.n = n > 0 && n < 1e12 ? (int64_t)n : 1;
		if (!strcmp(p.metric, "time"))
			p.min = summary(state, "nv/cold/time/gpu/min");
		TRY(tk_import_point(r->sink, 0, &p, err));
	}
	if (!*done)
		tk_import_count_missing(r->sink, benchmark);
	tk_import_set_attribute(
	        r->attributes, "states", tk_buf_cstr(&r->name), other_summaries(state));
	return 0;
}

static int visit(void *arg, const struct tk_import_path *path, json_t *value, struct tk_error *err)
{
	struct reader *r = arg;
	const char *name = json_string_value(json_object_get(value, "name"));
	const json_t *states = json_object_get(value, "states"), *state;
	size_t i;

	if (!name || !*name)
		return tk_import_fail(r->file, path, err, ".name: is missing");
	if (!json_is_array(states))
		return tk_import_fail_expected(r->file, path, err, "a list", states, ".states");
	json_array_foreach ((json_t *)states, i, state)
		TRY(json_is_object(state) ? put_state(r, path, name, i, state, err)
		                          : tk_import_fail_expected(r->file, path, err, "an object",
		                                    state, ".states[%zu]", i));
	return 0;
}

static int read_all(struct reader *r, struct tk_error *err)
{
	const struct tk_import_commit c = {
	        .rev = r->sink->options->rev, .time_s = tk_import_get_file_time(r->file, r->sink)};
	const char *path = json_string_value(
	        json_array_get(json_object_get(json_object_get(r->header, "meta"), "argv"), 0));
	const char *slash = path ? strrchr(path, '/') : NULL;

	r->executable = slash ? slash + 1 : path;
	TRY(place_on(r, NULL, err));
	TRY(tk_import_each(
	        "benchmarks", json_object_get(r->file->document, "benchmarks"), visit, r, err));
	json_object_update(r->attributes, r->header);
	return tk_import_add_run(r->sink, &c, r->attributes, NULL, err);
}

static int read_file(struct tk_import_file *f, struct tk_import_sink *sink, struct tk_error *err)
{
	TRY(tk_import_load(f, err));
	json_auto_t *header = tk_import_get_header(f, "benchmarks"), *attributes = json_object();
	struct reader r = {.file = f, .sink = sink, .header = header, .attributes = attributes};
	int status = read_all(&r, err);

	tk_buf_free(&r.name);
	return status;
}

const struct tk_import_format tk_import_nvbench = {sniff, read_file, NULL};
