/* From foreign points to rows. Each file, or each commit of it, is a night of kind `import` with
 * one run that holds all its points (points.c). */
#include "store/import/sink.h"
#include <math.h>
#include <search.h>

#define NAME_MAX_BYTES 4096

static const char *const statistics[] = {
        "sample", "median", "mean", "min", "lo", "hi", "q25", "q75", "p95", "n"};

void tk_import_sink_open(struct tk_import_sink *s)
{
	s->state = tk_calloc(1, sizeof(*s->state));
	s->state->file = (struct tk_import_row)TK_IMPORT_ROW();
}

static void free_run(struct import_run *run)
{
	free(run->key);
	free(run->revision);
	free(run->author);
	free(run->subject);
	json_decref(run->attributes);
	json_decref(run->own);
	free(run);
}

static void keep_entry(void *entry)
{
	(void)entry;
}

/* The texts of a file's row, which are copies. */
static void free_file(struct tk_import_state *st)
{
	const char *const texts[] = {st->file.machine, st->file.machine_attributes, st->file.device,
	        st->file.arch, st->file.upstream, st->file.url, st->file.revision, st->file.author,
	        st->file.subject};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free((void *)(uintptr_t)texts[i]);
	st->file = (struct tk_import_row)TK_IMPORT_ROW();
	json_decref(st->file_attributes);
	st->file_attributes = NULL;
}

void tk_import_sink_close(struct tk_import_sink *s)
{
	struct tk_import_state *st = s->state;

	free(s->benchmarks_path);
	json_decref(s->benchmarks);
	json_decref(s->unknown);
	tk_rows_free(&s->renamings);
	s->unknown = NULL;
	sqlite3_close(s->documents);
	s->documents = NULL;
	if (!st)
		return;
	tk_import_series_free(st);
	tdestroy(st->runs_by_key, keep_entry);
	for (size_t i = 0; i < st->run_count; i++)
		free_run(st->runs[i]);
	free_file(st);
	free(st->runs);
	free(st->points);
	free(st->orders);
	free(st->unit_text);
	tk_buf_free(&st->key);
	tk_buf_free(&st->place_key);
	free(st);
	s->state = NULL;
}

/* ---- where and what -------------------------------------------------------------------------- */

static const char *copy(const char *text)
{
	return text ? tk_strdup(text) : NULL;
}

void tk_import_note_unknown(struct tk_import_sink *s, const json_t *names)
{
	json_t *name;
	size_t i;

	if (!s->unknown)
		s->unknown = json_object();
	json_array_foreach (names, i, name)
		json_object_set_new(s->unknown, json_string_value(name), json_true());
}

int tk_import_set_file(
        struct tk_import_sink *s, const struct tk_import_row *row, struct tk_error *err)
{
	struct tk_import_state *st = s->state;

	free_file(st);
	st->file = (struct tk_import_row)TK_IMPORT_ROW(.machine = copy(row->machine),
	        .machine_attributes = copy(row->machine_attributes), .device = copy(row->device),
	        .arch = copy(row->arch), .upstream = copy(row->upstream), .url = copy(row->url),
	        .revision = copy(row->revision), .author = copy(row->author),
	        .subject = copy(row->subject));
	st->file.time_s = row->time_s;
	if (!row->attributes)
		return 0;
	st->file_attributes = json_loads(row->attributes, 0, NULL);
	return json_is_object(st->file_attributes)
	               ? 0
	               : tk_fail(err, TK_EDATA, "%s: attributes: expected a JSON object",
	                         s->file->path);
}

static int put_place(struct tk_import_sink *s, const struct tk_import_row *p, struct tk_error *err)
{
	struct import_place *place = &s->state->place;
	struct tk_machine_row machine = {
	        .name = p->machine, .attributes = tk_text_or(p->machine_attributes, "{}")};
	struct tk_device_row device = {
	        .kind = "imported", .name = p->device, .arch = p->arch, .slug = p->device};
	struct tk_environment_row environment = {.attributes = "{}"};
	struct tk_upstream_row upstream = {.name = p->upstream, .kind = "import", .url = p->url};

	TRY(tk_store_put(s->store, TK_TABLE_machine, &machine, &place->machine_id, err));
	device.machine_id = place->machine_id;
	TRY(tk_store_put(s->store, TK_TABLE_device, &device, &place->device_id, err));
	environment.device_id = place->device_id;
	TRY(tk_store_put(
	        s->store, TK_TABLE_environment, &environment, &place->environment_id, err));
	return tk_store_put(s->store, TK_TABLE_upstream, &upstream, &place->upstream_id, err);
}

/* Where the row is of; the same as that of the row before, mostly. */
static int find_place(
        struct tk_import_sink *s, const struct tk_import_row *row, struct tk_error *err)
{
	struct tk_import_state *st = s->state;
	const struct tk_import_row *f = &st->file;
	const struct tk_import_row p = {
	        .machine = tk_text_or(s->request->machine,
	                tk_text_or(row->machine, tk_text_or(f->machine, "imported"))),
	        .machine_attributes = tk_text_or(row->machine_attributes, f->machine_attributes),
	        .device = tk_text_or(row->device, tk_text_or(f->device, "unknown")),
	        .arch = tk_text_or(row->arch, tk_text_or(f->arch, "")),
	        .upstream = tk_text_or(s->request->upstream,
	                tk_text_or(row->upstream, tk_text_or(f->upstream, "imported"))),
	        .url = tk_text_or(row->url, tk_text_or(f->url, ""))};
	const char *const parts[] = {p.machine, p.device, p.arch, p.upstream, p.url};
	const size_t count = sizeof(parts) / sizeof(parts[0]);
	const char *known = tk_buf_cstr(&st->place_key), *end = known + st->place_key.len;
	size_t i = 0;

	for (; i < count && known < end && !strcmp(known, parts[i]); i++)
		known += strlen(known) + 1;
	if (i == count)
		return 0;
	tk_buf_clear(&st->place_key);
	for (i = 0; i < count; i++)
		tk_buf_add(&st->place_key, parts[i], strlen(parts[i]) + 1);
	return put_place(s, &p, err);
}

/* Values of one run that are from two columns are two measurements, never repetitions. The column
 * is the place without its numbers: "$.benchmarks[3].real_time". */
static int check_column(struct tk_import_sink *s, struct series_entry *entry, size_t run,
        const struct tk_import_row *p)
{
	AUTO(tk_buf) column = {0};

	for (const char *c = p->place ? p->place : ""; *c; c++) {
		tk_buf_add_char(&column, *c);
		if (*c == '[')
			c += strcspn(c, "]") - 1;
	}
	if (entry->run == run && entry->column && strcmp(entry->column, tk_buf_cstr(&column))) {
		AUTO_TEXT what = tk_sprintf("\"%s\" has a value from %s already; the format must "
		                            "tell them apart by metric, backend or series",
		        p->series, entry->column);

		return tk_import_fail(s, p->place, what);
	}
	if (entry->run != run && column.len) {
		free(entry->column);
		entry->column = tk_strdup(tk_buf_cstr(&column));
	}
	entry->run = run;
	return 0;
}

/* ---- results without a value ----------------------------------------------------------------- */

static void count_missing(struct tk_import_sink *s, const char *name)
{
	char *first = s->counts.first_without_value;

	if (!s->counts.without_value++)
		snprintf(
		        first, sizeof s->counts.first_without_value, "%s: %s", s->file->path, name);
}

/* ---- runs of the file ------------------------------------------------------------------------ */

static int run_order(const void *a, const void *b)
{
	return strcmp(((const struct import_run *)a)->key, ((const struct import_run *)b)->key);
}

/* A result's own revision and time, else those of the options, else those of the file. */
static const char *find_revision(const struct tk_import_sink *s, const struct tk_import_row *p)
{
	return tk_text_or(
	        p->revision, tk_text_or(s->request->rev, tk_text_or(s->state->file.revision, "")));
}

static int64_t find_time(const struct tk_import_sink *s, const struct tk_import_row *p)
{
	if (p->time_s != INT64_MIN)
		return p->time_s;
	if (!s->request->at_s && s->state->file.time_s != INT64_MIN)
		return s->state->file.time_s;
	if (!s->state->file_time_s)
		s->state->file_time_s = tk_import_get_file_time(s);
	return s->state->file_time_s;
}

static struct import_run *make_run(
        struct tk_import_state *st, const struct tk_import_row *p, const char *revision)
{
	struct import_run *run = tk_calloc(1, sizeof(*run));

	*run = (struct import_run){.key = tk_strdup(st->key.data),
	        .place = st->place,
	        .revision = tk_strdup(revision),
	        .author = tk_strdup(tk_text_or(p->author, tk_text_or(st->file.author, ""))),
	        .subject = tk_strdup(tk_text_or(p->subject, tk_text_or(st->file.subject, ""))),
	        .attributes = json_object(),
	        .number = st->run_count + 1};
	if (st->run_count == st->run_cap) {
		st->run_cap = st->run_cap ? st->run_cap * 2 : 64;
		st->runs = tk_reallocarray(st->runs, st->run_cap, sizeof(*st->runs));
	}
	st->runs[st->run_count++] = run;
	tk_check_memory(tsearch(run, &st->runs_by_key, run_order));
	return run;
}

static int find_run(struct tk_import_sink *s, const struct tk_import_row *p, struct tk_error *err)
{
	struct tk_import_state *st = s->state;
	char time[TK_TIME_ISO_SIZE];
	const int64_t time_s = find_time(s, p);
	const char *revision = find_revision(s, p);

	if (time_s < TK_TIME_MIN_S || time_s >= TK_TIME_END_S)
		return tk_fail(err, TK_EDATA, "%s: the time %s is not between 1970 and 2200",
		        s->file->path, tk_time_format_iso(time_s, time));
	if (st->last_run && st->last_run->time_s == time_s &&
	        !strcmp(st->last_run->revision, revision) &&
	        !memcmp(&st->last_run->place, &st->place, sizeof(st->place)))
		return 0;
	tk_buf_clear(&st->key);
	tk_buf_add_printf(&st->key, "%lld %lld %lld ", (long long)st->place.environment_id,
	        (long long)st->place.upstream_id, (long long)time_s);
	tk_buf_add_str(&st->key, revision);
	struct import_run wanted = {.key = st->key.data}, **found;
	const struct tk_import_commit *commit = tk_import_find_commit(s->request, revision);

	found = tfind(&wanted, &st->runs_by_key, run_order);
	st->last_run = found ? *found : make_run(st, p, revision);
	st->last_run->time_s = st->last_run->as_of_s = time_s;
	if (commit) {
		st->last_run->as_of_s = commit->time_s;
		st->last_run->position = commit->position;
		st->last_run->is_placed = true;
	}
	return 0;
}

static void keep_run_attributes(struct import_run *run, const char *text)
{
	json_auto_t *attributes = run->own ? NULL : json_loads(text, 0, NULL);

	if (json_is_object(attributes))
		run->own = json_incref(attributes);
}

/* Attributes of a result stand in its run, by the name of its series. */
static int keep_attributes(
        struct tk_import_sink *s, const struct tk_import_row *p, struct tk_error *err)
{
	AUTO_TEXT name =
	        p->backend ? tk_sprintf("%s (%s)", p->series, p->backend) : tk_strdup(p->series);
	json_auto_t *read = p->attributes ? json_loads(p->attributes, 0, NULL) : NULL;
	json_t *attributes = p->attributes ? read : p->rest, *all = s->state->last_run->attributes;

	if (!json_is_object(attributes))
		return tk_fail(
		        err, TK_EDATA, "%s: attributes: expected a JSON object", s->file->path);
	if (json_object_get(all, name))
		json_object_update(json_object_get(all, name), attributes);
	else if (json_object_size(attributes))
		json_object_set(all, name, attributes);
	return 0;
}

static int find_statistic(
        struct tk_import_sink *s, const struct tk_import_row *p, enum statistic *statistic)
{
	const char *word = tk_text_or(p->statistic, "sample");

	for (size_t i = 0; i < sizeof(statistics) / sizeof(statistics[0]); i++)
		if (!strcmp(statistics[i], word)) {
			*statistic = (enum statistic)i;
			return 0;
		}
	AUTO_TEXT what = tk_sprintf("the statistic \"%s\" is none of sample, median, mean, min, "
	                            "lo, hi, q25, q75, p95 and n",
	        word);
	return tk_import_fail(s, p->place ? p->place : "", what);
}

/* ---- results --------------------------------------------------------------------------------- */

/* Of the unit of the result before, mostly. */
static const struct tk_import_unit *find_unit(struct tk_import_state *st, const char *text)
{
	if (!st->unit_text || strcmp(st->unit_text, text)) {
		free(st->unit_text);
		st->unit_text = tk_strdup(text);
		st->unit = tk_import_unit(st->unit_text);
	}
	return &st->unit;
}

/* 0: not known. */
static uint32_t hash_version(const char *version)
{
	uint32_t hash = 2166136261u;

	for (const char *c = version; c && *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	return version && *version ? (hash % 65535 + 1) << TK_POINT_VERSION_SHIFT : 0;
}

static int add_value(struct tk_import_sink *s, const struct tk_import_row *p, const char *metric,
        const struct tk_import_unit *u, struct tk_error *err)
{
	struct series_entry *entry;
	double f;

	TRY(tk_import_find_series(s, p, metric, u, &entry, &f, err));
	struct import_point point = {.point = {.series_id = entry->id,
	                                     .run_id = (int64_t)s->state->last_run->number,
	                                     .value = p->value * f,
	                                     .lo = p->lo * f,
	                                     .hi = p->hi * f,
	                                     .min = p->min * f,
	                                     .q25 = p->q25 * f,
	                                     .q75 = p->q75 * f,
	                                     .p95 = p->p95 * f,
	                                     .n = p->n > 0 ? p->n : 1,
	                                     .flags = hash_version(p->version)}};

	TRY(find_statistic(s, p, &point.statistic));
	if (point.statistic == COUNT)
		point.point.value = p->value;
	TRY(check_column(s, entry, s->state->last_run->number, p));
	tk_import_note_order(s->state, entry->id, p->order);
	return tk_import_add_point(s, &point, err);
}

/* *failed: it has no value because the tool says so. */
static int read_outcome(struct tk_import_sink *s, const struct tk_import_row *p, bool *failed)
{
	enum tk_outcome outcome = TK_OUTCOME_OK;

	if (p->outcome && tk_outcome_parse(p->outcome, &outcome)) {
		AUTO_TEXT what = tk_sprintf("\"%s\" is not an outcome of a run", p->outcome);

		return tk_import_fail(s, p->place ? p->place : "", what);
	}
	*failed = !tk_outcome_has_timing(outcome);
	if (*failed)
		tk_import_add_failure(s, p, outcome);
	return 0;
}

static int add_result(struct tk_import_sink *s, const struct tk_import_row *p, struct tk_error *err)
{
	const struct tk_import_unit *u = find_unit(s->state, tk_text_or(p->unit, ""));
	const char *metric = tk_text_or(p->metric, u->metric);
	/* A measured time is positive; 0 is what a harness writes for none. */
	const bool is_impossible = tk_metric_from_name(metric) == TK_METRIC_TIME &&
	                           tk_metric_from_name(u->metric) == TK_METRIC_TIME &&
	                           p->value <= 0;
	bool failed = false;

	if (strlen(p->series) > NAME_MAX_BYTES)
		return tk_fail(err, TK_EDATA, "%s: the name of a series is longer than %d bytes",
		        s->file->path, NAME_MAX_BYTES);
	s->results++;
	TRY(find_place(s, p, err));
	TRY(find_run(s, p, err));
	if (p->run_attributes)
		keep_run_attributes(s->state->last_run, p->run_attributes);
	if (p->attributes || p->rest)
		TRY(keep_attributes(s, p, err));
	TRY(read_outcome(s, p, &failed));
	if (failed || !isfinite(p->value * u->factor) || is_impossible) {
		count_missing(s, p->series);
		return 0;
	}
	return add_value(s, p, metric, u, err);
}

int tk_import_add_result(
        struct tk_import_sink *s, const struct tk_import_row *p, struct tk_error *err)
{
	if (!s->renamings.count)
		return add_result(s, p, err);
	struct tk_import_row named = *p;
	AUTO_TEXT name = tk_renamings_apply(&s->renamings, p->series);

	named.series = name;
	return add_result(s, &named, err);
}

/* ---- the end of a file ----------------------------------------------------------------------- */

/* A file without a commit is a revision of its own, named by its time. */
static int put_build(
        struct tk_import_sink *s, const struct import_run *r, int64_t *id, struct tk_error *err)
{
	char time[TK_TIME_ISO_SIZE];
	struct tk_revision_row revision = {.upstream_id = r->place.upstream_id,
	        .rev = tk_text_or(r->revision, tk_time_format_iso(r->time_s, time)),
	        .parent = "",
	        .position = r->position,
	        .author_time_s = r->time_s,
	        .commit_time_s = r->as_of_s,
	        .author = r->author,
	        .subject = r->subject};
	struct tk_build_row build = {.artifact_key = "imported",
	        .adapter = s->format->name,
	        .status = TK_BUILD_OK,
	        .built_s = r->as_of_s};

	TRY(tk_store_put(s->store, TK_TABLE_revision, &revision, &build.revision_id, err));
	return tk_store_put(s->store, TK_TABLE_build, &build, id, err);
}

static int put_rows(struct tk_import_sink *s, struct import_run *r, const char *attributes,
        struct tk_error *err)
{
	struct tk_night_row night = {.machine_id = r->place.machine_id,
	        .kind = TK_NIGHT_IMPORT,
	        .as_of_s = r->as_of_s,
	        .started_s = r->as_of_s,
	        .finished_s = r->as_of_s,
	        .status = TK_NIGHT_COMPLETE,
	        .config_hash = "",
	        .tracker_version = "",
	        .summary = "{}"};
	struct tk_run_row run = {.environment_id = r->place.environment_id,
	        .as_of_s = r->as_of_s,
	        .started_s = r->as_of_s,
	        .outcome = TK_OUTCOME_OK,
	        .message = "",
	        .attributes = attributes};
	bool fresh;

	TRY(put_build(s, r, &run.build_id, err));
	TRY(tk_row_put(s->store, TK_TABLE_night, &night, &run.night_id, &fresh, err));
	s->counts.nights += fresh;
	r->night_id = run.night_id;
	r->build_id = run.build_id;
	return tk_row_put(s->store, TK_TABLE_run, &run, &r->run_id, NULL, err);
}

int tk_import_end_file(struct tk_import_sink *s, struct tk_error *err)
{
	struct tk_import_state *st = s->state;

	tk_import_order_runs(s);
	for (; st->first_run < st->run_count; st->first_run++) {
		struct import_run *run = st->runs[st->first_run];
		json_auto_t *all =
		        st->file_attributes ? json_copy(st->file_attributes) : json_object();

		if (run->own)
			json_object_update(all, run->own);
		if (json_object_size(run->attributes))
			json_object_set(all, "series", run->attributes);
		AUTO_TEXT text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);

		TRY(put_rows(s, run, tk_check_memory(text), err));
		json_object_clear(run->attributes);
	}
	tdestroy(st->runs_by_key, keep_entry);
	st->runs_by_key = NULL;
	st->last_run = NULL;
	st->pending = 0;
	st->file_time_s = 0;
	free_file(st);
	return 0;
}
