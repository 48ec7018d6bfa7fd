/* The state file: {"format":1,"digest":"...","cut_s":0,"last_night_id":0,"nights":"hash of the nights up to that one"}.
 */
#include "site_gen/reuse.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "site_gen/model.h"
#include "site_gen/output.h"

#define COLD_AFTER_S ((int64_t)30 * 86400) /* the cut is the start of that month: 30 to 61 nights are recent */
#define DAY_S 86400

/* The first day of the month that holds t (civil from days, H. Hinnant). */
static int64_t month_start(int64_t t_s)
{
	int64_t days = (t_s >= 0 ? t_s : t_s - (DAY_S - 1)) / DAY_S, z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365,
	        doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153, day = doy - (153 * mp + 2) / 5; /* day of the month from 0 */
	return (days - day) * DAY_S;
}

/* Nights up to `last`, by uid and state: equal where the history only grew since. 0 for `last`: up to the oldest that
 * is not finished. */
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
		tk_hash_field_i64(h, n->id);
		tk_hash_field(h, n->uid);
		tk_hash_field(h, n->status);
		tk_hash_field_i64(h, n->finished_s);
	}
	hex[0] = 0;
	if (h)
		tk_hash_finish(h, hex);
}

static int id_order(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

static int touched_add(struct tk_reuse *r, const struct tk_rows *runs, struct tk_error *err)
{
	int64_t *more = realloc(r->touched, ((size_t)r->touched_count + runs->count + 1) * sizeof *more);
	if (!more)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	r->touched = more;
	for (size_t i = 0; i < runs->count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(runs, struct tk_run_row, i);
		if (run->as_of_s >= r->cut_s)
			continue;
		/* An imported run has points of many series: everything anew. */
		if (!run->series_id)
			r->usable = false;
		r->touched[r->touched_count++] = run->series_id;
	}
	return 0;
}

/* A night that is new and began after the cut has no point before it, unless it measured the past. */
static int find_touched(const struct tk_model *m, struct tk_reuse *r, struct tk_error *err)
{
	int status = 0;
	for (size_t i = 0; !status && i < m->night_count; i++) {
		const struct tk_night_row *n = m->nights[i].row;
		if (n->id <= r->last_night_id || (n->as_of_s >= r->cut_s && !strcmp(n->kind, "nightly")))
			continue;
		struct tk_rows runs = {0};
		status = tk_store_runs_of_night(m->store, n->id, &runs, err);
		if (!status)
			status = touched_add(r, &runs, err);
		tk_rows_free(&runs);
	}
	if (r->touched_count)
		qsort(r->touched, (size_t)r->touched_count, sizeof *r->touched, id_order);
	return status;
}

int tk_reuse_plan(const struct tk_model *m, const struct tk_output *out, const char *digest, bool everything,
        struct tk_reuse *r, struct tk_error *err)
{
	struct tk_buf text = TK_BUF_INIT;
	*r = (struct tk_reuse){.cut_s = m->newest_s ? month_start(m->newest_s - COLD_AFTER_S) : 0};
	json_t *state = everything || tk_output_old(out, TK_SITE_MARKER, 1 << 20, &text, NULL)
	                        ? NULL
	                        : json_loads(tk_buf_cstr(&text), 0, NULL);
	const char *old_digest = json_string_value(json_object_get(state, "digest")),
	           *old_nights = json_string_value(json_object_get(state, "nights"));
	bool same = old_digest && old_nights && !strcmp(old_digest, digest) &&
	            json_integer_value(json_object_get(state, "cut_s")) == r->cut_s;
	r->last_night_id = json_integer_value(json_object_get(state, "last_night_id"));
	if (same && r->last_night_id > 0) {
		char hex[TK_HASH_HEX_SIZE];
		int64_t last = r->last_night_id;
		nights_hash(m, &last, hex);
		r->usable = *hex && !strcmp(hex, old_nights);
	}
	json_decref(state);
	tk_buf_free(&text);
	return r->usable ? find_touched(m, r, err) : 0;
}

bool tk_reuse_series(const struct tk_reuse *r, int64_t series_id)
{
	return r->usable && !(r->touched_count && bsearch(&series_id, r->touched, (size_t)r->touched_count,
	                                                  sizeof series_id, id_order));
}

bool tk_reuse_night(const struct tk_reuse *r, int64_t night_id)
{
	return r->usable && night_id <= r->last_night_id;
}

int tk_reuse_write_state(
        const struct tk_model *m, struct tk_output *out, const char *digest, int64_t cut_s, struct tk_error *err)
{
	char nights[TK_HASH_HEX_SIZE];
	int64_t last = 0;
	nights_hash(m, &last, nights);
	struct tk_buf text = TK_BUF_INIT;
	tk_buf_printf(&text,
	        "{\"format\":1,\"digest\":\"%s\",\"cut_s\":%lld,\"last_night_id\":%lld,\"nights\":\"%s\"}\n", digest,
	        (long long)cut_s, (long long)last, nights);
	int status = tk_output_put(out, TK_SITE_MARKER, &text, err);
	tk_buf_free(&text);
	return status;
}

void tk_reuse_free(struct tk_reuse *r)
{
	free(r->touched);
	*r = (struct tk_reuse){0};
}
