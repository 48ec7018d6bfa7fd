/* See diff_range.h. */
#include "cli/diff/range.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/diff/baseline.h"
#include "store/store.h"

#define DEFAULT_SPAN_S (INT64_C(7) * 86400)
#define REVISION_MIN 4 /* shorter prefixes of a hash name too much */

struct tables {
	const struct tk_config *config;
	struct tk_rows machines, nights, revisions;
};

static const struct tk_night_row *night_at(const struct tables *t, size_t i)
{
	return TK_ROWS_AT(&t->nights, struct tk_night_row, i);
}

static int find_revision(
        const struct tables *t, const char *text, int64_t *id, struct tk_error *err)
{
	size_t found = 0;

	for (size_t i = 0; i < t->revisions.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&t->revisions, struct tk_revision_row, i);

		if (strcmp(r->rev, text) == 0) {
			*id = r->id;
			return TK_OK;
		}
		if (strlen(text) >= REVISION_MIN && strncmp(r->rev, text, strlen(text)) == 0) {
			*id = r->id;
			found++;
		}
	}
	if (found == 1)
		return TK_OK;
	return tk_fail(err, TK_EUSAGE,
	        found ? "\"%.100s\" is ambiguous: %zu revisions start with it"
	              : "\"%.100s\" is not a duration (7d), date (2026-11-21), night, revision or "
	                "tag",
	        text, found);
}

static const struct tk_night_row *night_by_id(const struct tables *t, int64_t id)
{
	for (size_t i = 0; i < t->nights.count; i++)
		if (night_at(t, i)->id == id)
			return night_at(t, i);
	return NULL;
}

/* "run:42": the night of a run. */
static int night_of_run(struct tk_store *s, const struct tables *t, const char *text,
        const struct tk_night_row **out, struct tk_error *err)
{
	struct tk_rows runs;
	int rc = tk_store_find_runs(s, text, &runs, err);

	if (rc)
		return rc;
	*out = runs.count == 1 ? night_by_id(t, TK_ROWS_AT(&runs, struct tk_run_row, 0)->night_id)
	                       : NULL;
	if (!*out)
		rc = tk_fail(err, TK_EUSAGE, "run:%.60s: %s", text,
		        runs.count ? "several runs start with it" : "no such run");
	tk_rows_free(&runs);
	return rc;
}

/* The first night that measured a revision, a tag, a run. */
static int night_of_revision(struct tk_store *s, const struct tables *t, const char *text,
        const struct tk_night_row **out, struct tk_error *err)
{
	int64_t id = 0, night_id = 0;
	int rc;

	if (strncmp(text, "run:", 4) == 0)
		return night_of_run(s, t, text + 4, out, err);
	rc = strncmp(text, "tag:", 4) == 0 ? tk_diff_resolve_tag(s, t->config, text + 4, &id, err)
	                                   : find_revision(t, text, &id, err);
	if (rc == TK_EUSAGE && tk_diff_resolve_tag(s, t->config, text, &id, NULL) == TK_OK)
		rc = TK_OK;
	if (!rc)
		rc = tk_store_find_revision_night(s, id, &night_id, err);
	if (!rc)
		*out = night_by_id(t, night_id);
	return rc || *out ? rc : tk_fail(err, TK_EUSAGE, "no night measured revision %.100s", text);
}

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/* 7d, 12h: not a number alone, which is a night. */
static bool is_age(const char *text, int64_t *seconds)
{
	return isdigit((unsigned char)*text) && !is_number(text) &&
	       tk_units_parse_seconds(text, seconds, NULL) == TK_OK;
}

/* A moment: `end` takes the end of a day that is named. */
static int moment(struct tk_store *s, const struct tables *t, const char *text, int64_t now_s,
        bool end, int64_t *out, struct tk_error *err)
{
	const struct tk_night_row *night = NULL;
	int64_t seconds;
	int rc;

	if (is_age(text, &seconds)) {
		*out = now_s - seconds;
		return TK_OK;
	}
	if (tk_time_parse(text, out, NULL) == TK_OK) {
		if (end && strlen(text) == strlen("2026-11-21"))
			*out += 86399;
		return TK_OK;
	}
	rc = night_of_revision(s, t, text, &night, err);
	if (!rc)
		*out = night->as_of_s;
	return rc;
}

static int64_t machine_id(const struct tables *t, const char *name)
{
	for (size_t i = 0; name && i < t->machines.count; i++)
		if (strcmp(TK_ROWS_AT(&t->machines, struct tk_machine_row, i)->name, name) == 0)
			return TK_ROWS_AT(&t->machines, struct tk_machine_row, i)->id;
	return 0;
}

static int night_named(struct tk_store *s, const struct tables *t, const char *text,
        const char *machine, int64_t now_s, int64_t *id, struct tk_error *err)
{
	const struct tk_night_row *found = NULL;
	int64_t until, only = machine_id(t, machine);
	int rc;

	for (size_t i = 0; is_number(text) && i < t->nights.count; i++)
		if (night_at(t, i)->id == strtoll(text, NULL, 10)) {
			*id = night_at(t, i)->id;
			return TK_OK;
		}
	if (tk_time_parse(text, &until, NULL) == TK_OK) {
		rc = moment(s, t, text, now_s, true, &until, err);
		for (size_t i = 0; !rc && i < t->nights.count; i++)
			if (night_at(t, i)->as_of_s <= until &&
			        (!only || night_at(t, i)->machine_id == only) &&
			        (!found || night_at(t, i)->as_of_s > found->as_of_s))
				found = night_at(t, i);
		if (!rc && !found)
			rc = tk_fail(err, TK_EUSAGE, "no night up to %.100s", text);
	} else {
		rc = night_of_revision(s, t, text, &found, err);
	}
	if (!rc)
		*id = found->id;
	return rc;
}

static int descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

/* The range that holds the newest nights of every machine, so many each. */
static int last_nights(const struct tables *t, size_t last, const char *machine, int64_t *since_s,
        struct tk_error *err)
{
	int64_t only = machine_id(t, machine), *times = calloc(t->nights.count + 1, sizeof *times);

	if (!times)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	*since_s = INT64_MAX;
	for (size_t m = 0; m < t->machines.count; m++) {
		int64_t id = TK_ROWS_AT(&t->machines, struct tk_machine_row, m)->id;
		size_t n = 0;

		for (size_t i = 0; i < t->nights.count; i++)
			if (night_at(t, i)->machine_id == id &&
			        strcmp(night_at(t, i)->kind, "run") != 0)
				times[n++] = night_at(t, i)->as_of_s;
		if (!n || (only && id != only))
			continue;
		qsort(times, n, sizeof *times, descending);
		if (times[(n < last ? n : last) - 1] < *since_s)
			*since_s = times[(n < last ? n : last) - 1];
	}
	free(times);
	return TK_OK;
}

static int resolve(struct tk_store *s, const struct tables *t, const struct tk_diff_range_spec *w,
        const char *machine, int64_t now_s, struct tk_diff_range *out, struct tk_error *err)
{
	int rc = TK_OK;

	out->since_s = now_s - DEFAULT_SPAN_S;
	out->until_s = INT64_MAX;
	if (w->last)
		rc = last_nights(t, w->last, machine, &out->since_s, err);
	if (!rc && w->since)
		rc = moment(s, t, w->since, now_s, false, &out->since_s, err);
	if (!rc && w->until)
		rc = moment(s, t, w->until, now_s, true, &out->until_s, err);
	if (!rc && w->base)
		rc = night_named(s, t, w->base, machine, now_s, &out->base_night_id, err);
	if (!rc && w->head)
		rc = night_named(s, t, w->head, machine, now_s, &out->head_night_id, err);
	if (!rc && out->since_s > out->until_s)
		rc = tk_fail(err, TK_EUSAGE, "--since is later than --until");
	return rc;
}

static bool is_clock(const char *word)
{
	int64_t ignored;

	return !word || is_age(word, &ignored) || tk_time_parse(word, &ignored, NULL) == TK_OK;
}

/* Ages and dates need no list of thousands of nights and revisions. */
static int read_names(struct tk_store *s, const struct tk_diff_range_spec *w, struct tables *t,
        struct tk_error *err)
{
	int rc = tk_store_list_machines(s, &t->machines, err);

	if (rc || (!w->last && !w->base && !w->head && is_clock(w->since) && is_clock(w->until)))
		return rc;
	rc = tk_store_list_nights(s, &t->nights, err);
	return rc ? rc : tk_store_list_revisions(s, &t->revisions, err);
}

int tk_diff_range_resolve(struct tk_store *s, const struct tk_config *config,
        const struct tk_diff_range_spec *words, const char *machine, int64_t now_s,
        struct tk_diff_range *out, struct tk_error *err)
{
	struct tables t = {.config = config};
	int rc;

	if ((words->base || words->head) && (words->since || words->until || words->last))
		return tk_fail(
		        err, TK_EUSAGE, "--base and --head exclude --since, --until and --last");
	if (words->since && words->last)
		return tk_fail(err, TK_EUSAGE, "--since excludes --last");
	rc = read_names(s, words, &t, err);
	if (!rc)
		rc = resolve(s, &t, words, machine, now_s, out, err);
	tk_rows_free(&t.machines);
	tk_rows_free(&t.nights);
	tk_rows_free(&t.revisions);
	return rc;
}
