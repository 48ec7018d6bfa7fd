/* How a night starts: see tk_night_start(). The options that decide which jobs a night has are
 * stored with it, so that --resume continues with the options that it was started with. */
#include "base/base.h"
#include "config/suite.h"
#include "nightly/night.h"
#include "nightly/plan/suites.h"
#include "store/store.h"
#include "worker/worker.h"
#include <sys/utsname.h>

/* ---- options to JSON ---- */

static int set(json_t *request, const char *name, json_t *value, struct tk_error *err)
{
	if (!value)
		return tk_fail(err, TK_EUSAGE, "--%s: the value is not UTF-8", name);
	json_object_set_new(request, name, value);
	return TK_OK;
}

static int set_options(json_t *request, const struct tk_night_options *o, struct tk_error *err)
{
	json_t *devices = o->devices ? json_array() : NULL;
	json_object_set_new(request, "devices", devices);
	for (char *const *name = o->devices; name && *name; name++)
		if (json_array_append_new(devices, json_string(*name)))
			return set(request, "devices", NULL, err);
	if (o->import_file) { /* absolute, because the night may be resumed in another folder */
		AUTO_TEXT path = tk_path_make_absolute(o->import_file);
		TRY(path ? set(request, "import", json_string(path), err)
		         : tk_fail_errno(
		                   err, "the current folder, which %s is in", o->import_file));
	}
	if (o->parts)
		TRY(set(request, "part", json_sprintf("%u/%u", o->part, o->parts), err));
	if (o->split)
		json_object_set_new(request, "split", json_true());
	return o->only_upstream ? set(request, "upstream", json_string(o->only_upstream), err)
	                        : TK_OK;
}

/* {"devices":[...],"import":"/path","part":"2/4","split":true,"upstream":"NAME"}, with only the
 * options that are set. The seed is a column of the night. TK_EUSAGE: an option is not UTF-8; *out
 * is NULL then. */
static int encode(const struct tk_night_options *o, json_t **out, struct tk_error *err)
{
	*out = json_object();
	int status = set_options(*out, o, err);
	if (status) {
		json_decref(*out);
		*out = NULL;
	}
	return status;
}

/* ---- JSON to options ---- */

/* "=a,b" for a list, "=a" for a string, nothing for a flag. */
static void add_value(struct tk_buf *b, const json_t *value)
{
	const json_t *item;
	size_t i;
	if (json_is_string(value))
		tk_buf_add_printf(b, "=%s", json_string_value(value));
	json_array_foreach (value, i, item)
		tk_buf_add_printf(b, "%c%s", i ? ',' : '=', json_string_value(item));
}

static int fail_different(
        const char *name, const json_t *given, const json_t *stored, struct tk_error *err)
{
	AUTO(tk_buf) now = TK_BUF_INIT, then = TK_BUF_INIT;
	add_value(&now, given);
	add_value(&then, stored);
	return tk_fail(err, TK_EUSAGE,
	        "--%s%s: the stopped night was started with%s%s%s; leave the option out to resume "
	        "it, or leave out --resume to start another",
	        name, tk_buf_cstr(&now), stored ? " --" : "out it", stored ? name : "",
	        tk_buf_cstr(&then));
}

/* Sets the options of *o from the stored request. Its strings belong to `request`; the caller frees
 * *devices. TK_EUSAGE: an option is given, and is not as it was stored. */
static int restore(
        const json_t *request, struct tk_night_options *o, char ***devices, struct tk_error *err)
{
	const json_t *list = json_object_get(request, "devices"), *item;
	const char *part = json_string_value(json_object_get(request, "part")), *name;
	json_auto_t *given = NULL;
	json_t *value;
	size_t i;
	TRY(encode(o, &given, err));
	json_object_foreach (given, name, value) {
		const json_t *old = json_object_get(request, name);
		if (!old || !json_equal(old, value))
			return fail_different(name, value, old, err);
	}
	o->part = o->parts = 0;
	if (part)
		tk_part_parse(part, &o->part, &o->parts);
	o->split = json_is_true(json_object_get(request, "split"));
	o->import_file = json_string_value(json_object_get(request, "import"));
	o->only_upstream = json_string_value(json_object_get(request, "upstream"));
	if (!list)
		return TK_OK;
	*devices = tk_calloc(json_array_size(list) + 1, sizeof **devices);
	json_array_foreach (list, i, item)
		(*devices)[i] = (char *)json_string_value(item);
	o->devices = *devices;
	return TK_OK;
}

static enum tk_night_kind night_kind(const struct tk_night_options *o)
{
	return o->backfill_revision ? TK_NIGHT_BACKFILL : TK_NIGHT_NIGHTLY;
}

int tk_night_put_machine(struct tk_night *n, struct tk_error *err)
{
	struct utsname u;
	uname(&u);
	json_auto_t *attributes = json_pack(
	        "{s:s,s:s,s:s}", "hostname", u.nodename, "system", u.sysname, "arch", u.machine);
	AUTO_TEXT text = tk_check_memory(json_dumps(attributes, JSON_SORT_KEYS | JSON_COMPACT));
	struct tk_machine_row row = {.name = n->config->machine, .attributes = text};
	return tk_store_put(n->store, TK_TABLE_machine, &row, &n->machine_id, err);
}

/* ---- resume ---- */

static void use_row(struct tk_night *n, const struct tk_night_row *row)
{
	n->night_id = row->id;
	n->as_of_s = row->as_of_s;
	n->started_s = row->started_s;
	n->seed = (uint64_t)row->seed;
	json_auto_t *summary = json_loads(row->summary, 0, NULL);
	n->request = json_incref(json_object_get(summary, "request"));
}

/* Of the same kind, because a backfill that was stopped is run again: its revision is not
 * stored. */
static int find_unfinished(struct tk_night *n, struct tk_error *err)
{
	AUTO(tk_rows) nights = {0};
	TRY(tk_store_list(n->store, TK_TABLE_night,
	        "status='running' AND machine_id=?1 AND kind=?2"
	        " ORDER BY as_of_s DESC, id DESC LIMIT 1",
	        TK_ARGS(n->machine_id, tk_night_kind_name(night_kind(n->options))), &nights, err));
	if (!nights.count)
		return tk_fail(err, TK_ENOTFOUND, "no unfinished night of machine %s to resume",
		        n->config->machine);
	use_row(n, TK_ROWS_AT(&nights, struct tk_night_row, 0));
	return TK_OK;
}

static int resume_night(struct tk_night *n, struct tk_night_options *options, struct tk_error *err)
{
	TRY(find_unfinished(n, err));
	if (options->seed && (options->seed & INT64_MAX) != n->seed)
		return tk_fail(err, TK_EUSAGE,
		        "--seed=%llu: the stopped night has the seed %llu; leave the option out to "
		        "resume "
		        "it",
		        (unsigned long long)options->seed, (unsigned long long)n->seed);
	return n->request ? restore(n->request, options, &n->request_devices, err) : TK_OK;
}

/* ---- a new night ---- */

/* A stopped night that was not resumed ends here: its results stay, its other jobs are dropped. A
 * night that is later than now is a warning. */
static int check_earlier_nights(struct tk_night *n, struct tk_error *err)
{
	AUTO(tk_rows) running = {0};
	int64_t latest_s;
	TRY(tk_store_select_int(n->store, "SELECT max(started_s) FROM night WHERE machine_id=?1",
	        TK_ARGS(n->machine_id), INT64_MIN, &latest_s, err));
	TRY(tk_store_list(n->store, TK_TABLE_night, "status='running' AND machine_id=?1",
	        TK_ARGS(n->machine_id), &running, err));
	for (size_t i = 0; i < running.count; i++)
		TRY(tk_store_finish_night(n->store,
		        TK_ROWS_AT(&running, struct tk_night_row, i)->id, TK_NIGHT_INCOMPLETE,
		        "{\"abandoned\":true}", n->started_s, err));
	if (latest_s > n->started_s) { /* set back, or ahead until now */
		char now[TK_TIME_ISO_SIZE], latest[TK_TIME_ISO_SIZE];
		tk_log(TK_LOG_WARN, "clock_set_back", NULL,
		        "the clock says %s, but a night of this machine began at %s: was the clock "
		        "set back? This night is compared only with earlier ones",
		        tk_time_format_iso(n->started_s, now),
		        tk_time_format_iso(latest_s, latest));
	}
	return TK_OK;
}

/* A random seed has 63 bits, as the history stores it: the order of a night is repeated with the
 * seed that it shows. */
static uint64_t choose_seed(const struct tk_night *n)
{
	if (n->options->seed)
		return n->options->seed & INT64_MAX;
	return tk_splitmix64((uint64_t)n->started_s ^ (uint64_t)tk_clock_monotonic_ns()) >> 1;
}

static int put_night(struct tk_night *n, struct tk_error *err)
{
	json_auto_t *summary = json_pack("{s:O}", "request", n->request);
	AUTO_TEXT text = tk_check_memory(json_dumps(summary, JSON_COMPACT | JSON_SORT_KEYS));
	struct tk_night_row row = {.machine_id = n->machine_id,
	        .kind = night_kind(n->options),
	        .as_of_s = n->as_of_s,
	        .started_s = n->started_s,
	        .status = TK_NIGHT_RUNNING,
	        .seed = (int64_t)n->seed,
	        .config_hash = n->config->hash,
	        .tracker_version = TK_VERSION,
	        .summary = text};
	return tk_store_begin_night(n->store, &row, &n->night_id, err);
}

static int start_night(struct tk_night *n, struct tk_error *err)
{
	const struct tk_night_options *o = n->options;
	TRY(check_earlier_nights(n, err));
	n->as_of_s = o->backfill_revision ? o->backfill_as_of_s : n->started_s;
	n->seed = choose_seed(n);
	TRY(encode(o, &n->request, err));
	return put_night(n, err);
}

int tk_night_start(struct tk_night *n, struct tk_night_options *options, struct tk_error *err)
{
	struct tk_night_row row;
	TRY(tk_night_put_machine(n, err));
	TRY(options->resume ? resume_night(n, options, err) : start_night(n, err));
	TRY(tk_store_get(n->store, TK_TABLE_night, n->night_id, &row, err));
	n->report->night_id = n->night_id;
	snprintf(n->report->uid, sizeof n->report->uid, "%s", row.uid);
	return TK_OK;
}

/* ---- the end ---- */

void tk_night_free(struct tk_night *n)
{
	for (size_t i = 0; i < n->device_count; i++) /* processes end in parallel */
		tk_night_device_request_stop(&n->devices[i]);
	for (size_t i = 0; i < n->device_count; i++)
		tk_night_device_close(&n->devices[i]);
	for (size_t i = 0; i < n->upstream_count; i++)
		for (size_t k = 0; k < n->upstreams[i].artifact_count; k++)
			tk_artifact_free(n->upstreams[i].artifacts[k]);
	free(n->devices);
	free(n->upstreams);
	tk_modules_free(n->modules);
	tk_sequence_free_list(n->sequences);
	tk_texts_free(n->texts);
	json_decref(n->request);
	free(n->request_devices);
}

/* ---- commands outside of a night ---- */

/* store NULL: nothing is stored; a night that is running in the history at db_path still excludes
 * the command. */
static int open_session(const struct tk_config *config, struct tk_store *store, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	*s = (struct tk_session){.options = {.program = options->program,
	                                 .observer = options->observer,
	                                 .devices = store ? NULL : options->devices}};
	s->night = (struct tk_night){.config = config,
	        .store = store,
	        .options = &s->options,
	        .report = &s->report,
	        .started_s = tk_clock_now_s(),
	        .started_mono_ns = tk_clock_monotonic_ns()};
	s->night.seed =
	        options->seed ? options->seed : tk_splitmix64((uint64_t)s->night.started_mono_ns);
	if (store || tk_file_exists(db_path))
		TRY(tk_store_lock(db_path, &s->lock, err));
	TRY(tk_modules_load(options->program, &s->night.modules, err));
	if (store)
		TRY(tk_night_put_machine(&s->night, err));
	return tk_night_probe(&s->night, err);
}

int tk_session_open_unstored(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	return open_session(config, NULL, db_path, options, s, err);
}

int tk_session_open(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	return open_session(config, store, tk_store_path(store), options, s, err);
}

void tk_session_close(struct tk_session *s)
{
	tk_night_free(&s->night);
	tk_lock_release(s->lock);
	s->lock = NULL;
}
