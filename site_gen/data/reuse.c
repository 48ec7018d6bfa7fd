/* The state file: {"format":3,"digest":"...","build":7,"last_night_id":0,"nights":"HASH",
 * "verdict_version":0,"newest_night_id":0,"last_run_id":0,"boot":"...","files":0,"bytes":0,
 * "retiring":{"nights/2026-01-01-m.html":5}}; nights: a hash of the nights up to last_night_id. */
#include "site_gen/data/reuse.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "site_gen/data/state.h"
#include "site_gen/model/model.h"
#include "site_gen/render/output.h"

#define STATE_BYTES_MAX ((size_t)16 << 20)
/* Pages of series are rewritten every TK_SITE_REFRESH_BUILDS, pages of nights live for
 * TK_SITE_NIGHT_PAGES: after so many builds nothing refers to a retired page. */
#define RETIRE_BUILDS (TK_SITE_NIGHT_PAGES + 2 * TK_SITE_REFRESH_BUILDS)

/* A hash of the nights up to `last`: equal while the history only grows. `last` 0: up to the first
 * unfinished night. */
static void nights_hash(const struct tk_model *m, int64_t *last, char hex[TK_HASH_HEX_SIZE])
{
	int64_t limit = *last, newest = 0;
	for (size_t i = 0; !*last && i < m->night_count; i++) {
		const struct tk_night_row *n = m->nights[i].row;
		newest = n->id > newest ? n->id : newest;
		if (!n->finished_s && (!limit || n->id <= limit))
			limit = n->id - 1;
	}
	limit = limit ? limit : newest;
	*last = limit;
	struct tk_hash *h = tk_hash_new();
	for (size_t i = 0; h && i < m->nights_by_id.count; i++) {
		const struct tk_night_row *n = m->nights_by_id.entries[i].row;
		if (n->id > limit)
			continue;
		tk_hash_add_i64(h, n->id);
		tk_hash_add_str(h, n->uid);
		tk_hash_add_str(h, tk_night_status_name(n->status));
		tk_hash_add_i64(h, n->finished_s);
	}
	hex[0] = 0;
	if (h)
		tk_hash_finish(h, hex);
}

/* Whether a night may have brought points older than the newest known ones. Run ids decide, not the
 * clock: a clock that is set back would hide what came after it. */
static int may_be_backfilled(const struct tk_model *m, const struct tk_reuse *r,
        const struct tk_night_row *night, int64_t newest_s, bool *may, struct tk_error *err)
{
	int64_t newest_run_id;
	if (night->id <= r->newest_night_id)
		return tk_store_find_late_runs(
		        m->store, r->known_run_id, night->id, night->id, may, &newest_run_id, err);
	*may = night->as_of_s <= newest_s || night->kind != TK_NIGHT_NIGHTLY;
	return 0;
}

static int note_backfilled(const struct tk_model *m, const struct tk_site_state *state,
        const struct tk_rows *runs, int64_t known_run_id, struct tk_reuse *r, struct tk_error *err)
{
	for (size_t i = 0; i < runs->count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(runs, struct tk_run_row, i);
		const struct tk_site_series *s = tk_model_find_series(m, run->series_id);
		size_t at = s ? (size_t)(s - m->series) : 0;
		r->usable = r->usable && s; /* an imported run has points of many series */
		if (!s || run->id <= known_run_id || run->as_of_s > state->series[at].last_s)
			continue;
		if (!r->backfilled &&
		        !(r->backfilled = tk_calloc(m->series_count + 1, sizeof *r->backfilled)))
			return tk_fail(err, TK_ENOMEM, "out of memory");
		r->backfilled[at] = true;
	}
	return 0;
}

int tk_reuse_find_backfilled(const struct tk_model *m, const struct tk_site_state *state,
        struct tk_reuse *r, struct tk_error *err)
{
	int status = 0;
	int64_t newest_s = 0, known_run_id = 0;
	for (size_t i = 0; i < state->series_count; i++) {
		const struct tk_series_state *s = &state->series[i];
		newest_s = s->last_s > newest_s ? s->last_s : newest_s;
		known_run_id = s->last_run_id > known_run_id ? s->last_run_id : known_run_id;
	}
	for (size_t i = 0; !status && r->usable && i < m->night_count; i++) {
		const struct tk_night_row *n = m->nights[i].row;
		bool may = false;
		if (n->id > r->last_night_id)
			status = may_be_backfilled(m, r, n, newest_s, &may, err);
		if (status || !may)
			continue;
		struct tk_rows runs = {0};
		status = tk_store_list_night_runs(m->store, n->id, &runs, err);
		if (!status)
			status = note_backfilled(m, state, &runs, known_run_id, r, err);
		tk_rows_free(&runs);
	}
	return status;
}

/* Identifies this boot of the machine; "": unknown. The state file is published, so the value of
 * each build is hashed in: nobody can recognise the machine by it. */
static void hash_boot(int64_t build, const char *nights, char hex[TK_HASH_HEX_SIZE])
{
	struct tk_buf id = TK_BUF_INIT;
	struct tk_hash *h = NULL;
	*hex = 0;
	if (!tk_file_read("/proc/sys/kernel/random/boot_id", 256, &id, NULL))
		h = tk_hash_new();
	if (h) {
		tk_hash_add_str(h, tk_buf_cstr(&id));
		tk_hash_add_i64(h, build);
		tk_hash_add_str(h, nights);
		tk_hash_finish(h, hex);
	}
	tk_buf_free(&id);
}

/* Files written just before a power failure may be empty. */
static bool is_whole_since_boot(
        const struct tk_output *out, int64_t build, const char *nights, const char *old_boot)
{
	char boot[TK_HASH_HEX_SIZE];
	hash_boot(build, nights, boot);
	return (old_boot && *boot && !strcmp(boot, old_boot)) || !tk_output_has_empty(out);
}

static bool is_analysed_again(const struct tk_model *m, const json_t *state, int64_t until_night_id)
{
	int64_t times = 0;
	return tk_store_get_verdict_version(m->store, until_night_id, &times, NULL) ||
	       times != json_integer_value(json_object_get(state, "verdict_version"));
}

int tk_reuse_plan(const struct tk_model *m, const struct tk_output *out, const char *digest,
        bool everything, struct tk_reuse *r, struct tk_error *err)
{
	struct tk_buf text = TK_BUF_INIT;
	*r = (struct tk_reuse){0};
	json_t *state =
	        everything || tk_output_read_old(out, TK_SITE_MARKER, STATE_BYTES_MAX, &text, NULL)
	                ? NULL
	                : json_loads(tk_buf_cstr(&text), 0, NULL);
	r->marker_bytes = (int64_t)text.len;
	tk_buf_free(&text);
	const char *old_digest = json_string_value(json_object_get(state, "digest")),
	           *old_nights = json_string_value(json_object_get(state, "nights"));
	r->build = json_integer_value(json_object_get(state, "build"));
	r->last_night_id = json_integer_value(json_object_get(state, "last_night_id"));
	r->newest_night_id = json_integer_value(json_object_get(state, "newest_night_id"));
	r->files = (size_t)json_integer_value(json_object_get(state, "files"));
	r->bytes = json_integer_value(json_object_get(state, "bytes")) + r->marker_bytes;
	json_t *retiring = json_object_get(state, "retiring");
	r->retiring = json_is_object(retiring) ? json_incref(retiring) : json_object();
	if (old_digest && old_nights && !strcmp(old_digest, digest) && r->build > 0) {
		char hex[TK_HASH_HEX_SIZE];
		int64_t last = r->last_night_id;
		nights_hash(m, &last, hex);
		r->usable = r->last_night_id > 0 && *hex && !strcmp(hex, old_nights) &&
		            !is_analysed_again(m, state, last) &&
		            is_whole_since_boot(out, r->build, hex,
		                    json_string_value(json_object_get(state, "boot")));
	}
	/* runs that were merged into finished nights */
	r->known_run_id =
	        r->usable ? json_integer_value(json_object_get(state, "last_run_id")) : INT64_MAX;
	bool late = false;
	json_decref(state);
	int status = tk_store_find_late_runs(
	        m->store, r->known_run_id, 0, r->last_night_id, &late, &r->last_run_id, err);
	r->usable = r->usable && !late;
	return status || r->retiring ? status : tk_fail(err, TK_ENOMEM, "out of memory");
}

bool tk_reuse_can_keep_night(const struct tk_reuse *r, int64_t night_id)
{
	return r->usable && night_id <= r->last_night_id;
}

/* ---- pages that leave ---- */

static int name_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* One page of a folder. `wanted`: the linked names without ".html", sorted. */
static int retire_page(struct tk_output *out, const char *folder, const char *name,
        const char **wanted, size_t count, int64_t build, struct tk_reuse *r, json_t *retiring,
        struct tk_error *err)
{
	char path[300], stem[256];
	size_t len = strlen(name);
	if (len < 6 || len >= sizeof stem || strcmp(name + len - 5, ".html") ||
	        !strcmp(name, "index.html"))
		return 0;
	snprintf(stem, sizeof stem, "%.*s", (int)len - 5, name);
	const char *key = stem;
	if (count && bsearch(&key, wanted, count, sizeof *wanted, name_order))
		return 0;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int64_t since = json_integer_value(json_object_get(r->retiring, path));
	if (since && build - since > RETIRE_BUILDS)
		return tk_output_drop(out, path, err);
	return json_object_set_new(retiring, path, json_integer(since ? since : build))
	               ? tk_fail(err, TK_ENOMEM, "out of memory")
	               : 0;
}

static int retire_folder(struct tk_output *out, const char *folder, const char **wanted,
        size_t count, int64_t build, struct tk_reuse *r, json_t *retiring, struct tk_error *err)
{
	char **names;
	size_t found;
	int status = tk_output_list_old(out, folder, &names, &found, err);
	if (count)
		qsort(wanted, count, sizeof *wanted, name_order);
	for (size_t i = 0; !status && i < found; i++)
		status = retire_page(out, folder, names[i], wanted, count, build, r, retiring, err);
	tk_names_free(names, found);
	return status;
}

int tk_reuse_retire_pages(const struct tk_model *m, struct tk_output *out, int64_t build,
        struct tk_reuse *r, struct tk_error *err)
{
	size_t most = m->night_count > m->revision_changes.revision_count
	                      ? m->night_count
	                      : m->revision_changes.revision_count,
	       count = 0;
	const char **wanted = tk_malloc((most + 1) * sizeof *wanted);
	json_t *retiring = json_object();
	int status = wanted && retiring ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && i < m->night_count; i++)
		if (m->nights[i].file)
			wanted[count++] = m->nights[i].file;
	if (!status && r->usable)
		status = retire_folder(out, "nights", wanted, count, build, r, retiring, err);
	count = 0;
	for (size_t i = 0; !status && i < m->revision_changes.revision_count; i++)
		if (m->revision_changes.revisions[i].file)
			wanted[count++] = m->revision_changes.revisions[i].file;
	if (!status && r->usable)
		status = retire_folder(out, "revisions", wanted, count, build, r, retiring, err);
	free(wanted);
	if (retiring) {
		json_decref(r->retiring);
		r->retiring = retiring;
	}
	return status;
}

/* ---- the state ---- */

int tk_reuse_write_state(const struct tk_model *m, struct tk_output *out, const char *digest,
        int64_t build, const struct tk_reuse *r, struct tk_error *err)
{
	char nights[TK_HASH_HEX_SIZE], boot[TK_HASH_HEX_SIZE];
	int64_t last = 0, newest = 0, analysed_count = 0;
	nights_hash(m, &last, nights);
	hash_boot(build, nights, boot);
	for (size_t i = 0; i < m->night_count; i++)
		newest = m->nights[i].row->id > newest ? m->nights[i].row->id : newest;
	int status = tk_store_get_verdict_version(m->store, last, &analysed_count, err);
	if (status)
		return status;
	struct tk_output_counts counts = tk_output_counts(out);
	char *retiring = json_dumps(r->retiring, JSON_COMPACT | JSON_SORT_KEYS);
	if (!retiring)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	struct tk_buf text = TK_BUF_INIT;
	tk_buf_add_printf(&text,
	        "{\"format\":3,\"digest\":\"%s\",\"build\":%lld,\"last_night_id\":%lld,\"nights\":"
	        "\"%s\","
	        "\"verdict_version\":%lld,\"newest_night_id\":%lld,\"last_run_id\":%lld,\"boot\":"
	        "\"%s\","
	        "\"files\":%zu,"
	        "\"bytes\":%lld,\"retiring\":%s}\n",
	        digest, (long long)build, (long long)last, nights, (long long)analysed_count,
	        (long long)newest, (long long)r->last_run_id, boot, counts.files + !r->usable,
	        (long long)(counts.bytes - (r->usable ? r->marker_bytes : 0)), retiring);
	status = tk_output_put(out, TK_SITE_MARKER, &text, err);
	free(retiring);
	tk_buf_free(&text);
	return status;
}

void tk_reuse_free(struct tk_reuse *r)
{
	json_decref(r->retiring);
	free(r->backfilled);
	*r = (struct tk_reuse){0};
}
