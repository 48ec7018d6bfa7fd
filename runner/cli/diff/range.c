#include "cli/diff/range.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "cli/diff/baseline.h"
#include "cli/when.h"
#include "store/store.h"

#define DEFAULT_SPAN_S (INT64_C(7) * 86400)
#define REVISION_MIN 4 /* digits; shorter prefixes of a hash are ambiguous */

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
	              : "\"%.100s\" is not a duration (7d), date (2026-11-21, yesterday), night, "
	                "revision or tag",
	        text, found);
}

static const struct tk_night_row *find_night(const struct tables *t, int64_t id)
{
	for (size_t i = 0; i < t->nights.count; i++)
		if (night_at(t, i)->id == id)
			return night_at(t, i);
	return NULL;
}

/* "run:42": the night of a run. */
static int find_run_night(struct tk_store *s, const struct tables *t, const char *text,
        const struct tk_night_row **out, struct tk_error *err)
{
	struct tk_rows runs;
	int status = tk_store_find_runs(s, text, &runs, err);

	if (status)
		return status;
	*out = runs.count == 1 ? find_night(t, TK_ROWS_AT(&runs, struct tk_run_row, 0)->night_id)
	                       : NULL;
	if (!*out)
		status = tk_fail(err, TK_EUSAGE, "run:%.60s: %s", text,
		        runs.count ? "several runs start with it" : "no such run");
	tk_rows_free(&runs);
	return status;
}

/* The first night that measured a revision or a tag, or the night of a run. */
static int find_revision_night(struct tk_store *s, const struct tables *t, const char *text,
        const struct tk_night_row **out, struct tk_error *err)
{
	int64_t id = 0, night_id = 0;
	int status;

	if (strncmp(text, "run:", 4) == 0)
		return find_run_night(s, t, text + 4, out, err);
	status = strncmp(text, "tag:", 4) == 0
	                 ? tk_diff_resolve_tag(s, t->config, text + 4, &id, err)
	                 : find_revision(t, text, &id, err);
	if (status == TK_EUSAGE && !tk_diff_resolve_tag(s, t->config, text, &id, NULL))
		status = TK_OK;
	if (!status)
		status = tk_store_find_revision_night(s, id, &night_id, err);
	if (!status)
		*out = find_night(t, night_id);
	return status || *out ? status
	                      : tk_fail(err, TK_EUSAGE, "no night measured revision %.100s", text);
}

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/* `end_of_day`: a day is its last second. */
static int find_moment(struct tk_store *s, const struct tables *t, const char *text, int64_t now_s,
        bool end_of_day, int64_t *out, struct tk_error *err)
{
	const struct tk_night_row *night = NULL;
	int status;

	if (!tk_when_parse(text, now_s, end_of_day, out, NULL))
		return TK_OK;
	status = find_revision_night(s, t, text, &night, err);
	if (!status)
		*out = night->as_of_s;
	return status;
}

static int64_t find_machine_id(const struct tables *t, const char *name)
{
	for (size_t i = 0; name && i < t->machines.count; i++)
		if (strcmp(TK_ROWS_AT(&t->machines, struct tk_machine_row, i)->name, name) == 0)
			return TK_ROWS_AT(&t->machines, struct tk_machine_row, i)->id;
	return 0;
}

static int find_named_night(struct tk_store *s, const struct tables *t, const char *text,
        const char *machine, int64_t now_s, int64_t *id, struct tk_error *err)
{
	const struct tk_night_row *found = NULL;
	int64_t until, only = find_machine_id(t, machine);
	int status;

	for (size_t i = 0; is_number(text) && i < t->nights.count; i++)
		if (night_at(t, i)->id == strtoll(text, NULL, 10)) {
			*id = night_at(t, i)->id;
			return TK_OK;
		}
	if (!tk_time_parse(text, &until, NULL)) {
		status = find_moment(s, t, text, now_s, true, &until, err);
		for (size_t i = 0; !status && i < t->nights.count; i++)
			if (night_at(t, i)->as_of_s <= until &&
			        (!only || night_at(t, i)->machine_id == only) &&
			        (!found || night_at(t, i)->as_of_s > found->as_of_s))
				found = night_at(t, i);
		if (!status && !found)
			status = tk_fail(err, TK_EUSAGE, "no night before or at \"%.100s\"", text);
	} else {
		status = find_revision_night(s, t, text, &found, err);
	}
	if (!status)
		*id = found->id;
	return status;
}

static int descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

/* The start of the range that holds the newest `last` nights of every machine. */
static int last_nights(const struct tables *t, size_t last, const char *machine, int64_t *since_s,
        struct tk_error *err)
{
	int64_t only = find_machine_id(t, machine),
	        *times = tk_calloc(t->nights.count + 1, sizeof *times);

	if (!times)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	*since_s = INT64_MAX;
	for (size_t m = 0; m < t->machines.count; m++) {
		int64_t id = TK_ROWS_AT(&t->machines, struct tk_machine_row, m)->id;
		size_t n = 0;

		for (size_t i = 0; i < t->nights.count; i++)
			if (night_at(t, i)->machine_id == id &&
			        night_at(t, i)->kind != TK_NIGHT_RUN)
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

/* A range that starts after now and after every night is a mistake in a date. Nights may be later
 * than now where the clock was set back. */
static int check_not_future(struct tk_store *s, const struct tk_diff_range_spec *spec,
        int64_t since_s, int64_t now_s, struct tk_error *err)
{
	struct tk_rows nights;
	char now[TK_TIME_ISO_SIZE];
	int64_t newest_s = now_s;

	if (!spec->since || since_s <= now_s)
		return TK_OK;
	TRY(tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, err));
	for (size_t i = 0; i < nights.count; i++)
		if (TK_ROWS_AT(&nights, struct tk_night_row, i)->as_of_s > newest_s)
			newest_s = TK_ROWS_AT(&nights, struct tk_night_row, i)->as_of_s;
	tk_rows_free(&nights);
	return since_s <= newest_s
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE, "--since=%.100s is in the future; it is %s now",
	                         spec->since, tk_time_format_iso(now_s, now));
}

static int resolve(struct tk_store *s, const struct tables *t,
        const struct tk_diff_range_spec *spec, const char *machine, int64_t now_s,
        struct tk_diff_range *out, struct tk_error *err)
{
	int status = TK_OK;

	out->since_s = now_s - DEFAULT_SPAN_S;
	out->until_s = INT64_MAX;
	if (spec->last)
		status = last_nights(t, spec->last, machine, &out->since_s, err);
	if (!status && spec->since)
		status = find_moment(s, t, spec->since, now_s, false, &out->since_s, err);
	if (!status && spec->until)
		status = find_moment(s, t, spec->until, now_s, true, &out->until_s, err);
	if (!status && spec->base)
		status = find_named_night(
		        s, t, spec->base, machine, now_s, &out->base_night_id, err);
	if (!status && spec->head)
		status = find_named_night(
		        s, t, spec->head, machine, now_s, &out->head_night_id, err);
	if (!status && out->since_s > out->until_s)
		status = tk_fail(err, TK_EUSAGE, "--since is later than --until");
	return status ? status : check_not_future(s, spec, out->since_s, now_s, err);
}

static bool is_moment(const char *text, int64_t now_s)
{
	int64_t ignored;

	return !text || !tk_when_parse(text, now_s, false, &ignored, NULL);
}

/* Durations and dates do not need the list of thousands of nights and revisions. */
static int read_names(struct tk_store *s, const struct tk_diff_range_spec *spec, int64_t now_s,
        struct tables *t, struct tk_error *err)
{
	bool needs_nights = spec->last || spec->base || spec->head ||
	                    !is_moment(spec->since, now_s) || !is_moment(spec->until, now_s);
	int status = tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &t->machines, err);

	if (status || !needs_nights)
		return status;
	status = tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &t->nights, err);
	return status ? status
	              : tk_store_list(s, TK_TABLE_revision, NULL, TK_NO_ARGS, &t->revisions, err);
}

int tk_diff_range_resolve(struct tk_store *s, const struct tk_config *config,
        const struct tk_diff_range_spec *spec, const char *machine, int64_t now_s,
        struct tk_diff_range *out, struct tk_error *err)
{
	struct tables t = {.config = config};
	int status;

	if ((spec->base || spec->head) && (spec->since || spec->until || spec->last))
		return tk_fail(
		        err, TK_EUSAGE, "--base and --head exclude --since, --until and --last");
	if (spec->since && spec->last)
		return tk_fail(err, TK_EUSAGE, "--since excludes --last");
	status = read_names(s, spec, now_s, &t, err);
	if (!status)
		status = resolve(s, &t, spec, machine, now_s, out, err);
	tk_rows_free(&t.machines);
	tk_rows_free(&t.nights);
	tk_rows_free(&t.revisions);
	return status;
}
