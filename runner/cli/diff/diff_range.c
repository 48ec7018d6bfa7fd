/* See diff_range.h: what nights, revisions, tags and runs a text names. */
#include "cli/diff/diff_range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/try.h"
#include "cli/records.h"
#include "cli/when.h"
#include "config/config.h"
#include "nightly/stages/upstream_build.h"
#include "store/store.h"
#include "upstream/repo.h"

#define DEFAULT_SPAN_S (INT64_C(7) * 86400)
#define REVISION_MIN 4 /* digits; shorter prefixes of a hash are ambiguous */

/* Revisions with this name; where there are none, those that start with it (?2 digits at least). */
static const char revisions_sql[] =
        "SELECT id FROM revision WHERE rev = ?1 OR (length(?1) >= ?2 AND"
        "  substr(rev, 1, length(?1)) = ?1 AND NOT EXISTS (SELECT 1 FROM revision WHERE rev = ?1))";

/* The tagged revision ?2 of the upstream ?1, or the newest measured one before its position ?3. */
static const char measured_sql[] =
        "SELECT r.id FROM revision r JOIN upstream u ON u.id = r.upstream_id WHERE u.name = ?1"
        "  AND (r.rev = ?2 OR (r.position > 0 AND r.position <= ?3))"
        " ORDER BY r.rev = ?2 DESC, r.position DESC LIMIT 1";

/* ---- revisions and tags ---------------------------------------------------------------------- */

static void add(struct tk_diff_baseline *b, int64_t id)
{
	b->revisions = tk_realloc(b->revisions, (b->count + 1) * sizeof *b->revisions);
	b->revisions[b->count++] = id;
}

void tk_diff_baseline_free(struct tk_diff_baseline *b)
{
	free(b->revisions);
	*b = (struct tk_diff_baseline){0};
}

static int find_revisions(
        struct tk_store *s, const char *text, struct tk_diff_baseline *found, struct tk_error *err)
{
	json_t *rows;
	int status = tk_records_select(s, revisions_sql, TK_ARGS(text, REVISION_MIN), &rows, err);

	for (size_t i = 0; i < json_array_size(rows); i++)
		add(found, json_integer_value(json_object_get(json_array_get(rows, i), "id")));
	json_decref(rows);
	return status;
}

/* Adds the measured revision of the tag for each upstream that has the tag. *tagged: how many have
 * it, measured or not. An unreachable upstream is a warning, or the error if no other has the
 * tag. */
static int find_tag(struct tk_store *s, const struct tk_config *config, const char *tag,
        struct tk_diff_baseline *found, size_t *tagged, struct tk_error *err)
{
	struct tk_error unreachable = {0};
	char ref[300];

	*tagged = 0;
	snprintf(ref, sizeof ref, "refs/tags/%.250s", tag);
	for (size_t i = 0; i < config->upstream_count; i++) {
		const struct tk_upstream_config *u = &config->upstreams[i];
		struct tk_revision revision;
		struct tk_error why = {0};
		struct tk_repo source;
		int64_t id;

		if (!u->enabled || !tk_upstream_kind_is_built(u->kind))
			continue;
		tk_upstream_init_repo(config, u, &source);
		int query = tk_repo_find_revision(&source, ref, &revision, &why);
		if (query && query != TK_ENOTFOUND)
			unreachable = why;
		if (query)
			continue;
		++*tagged;
		TRY(tk_store_select_int(s, measured_sql,
		        TK_ARGS(u->name, (const char *)revision.id, revision.position), 0, &id,
		        err));
		if (id)
			add(found, id);
	}
	if (unreachable.status && !*tagged)
		return tk_fail(err, unreachable.status, "tag %.100s: %s", tag, unreachable.message);
	if (unreachable.status)
		tk_log(TK_LOG_WARN, "unreachable", NULL, "tag %.100s: %s", tag,
		        unreachable.message);
	return TK_OK;
}

/* The newest measured revision up to a tag. Queries the repositories of the upstreams. TK_EUSAGE:
 * no upstream or several have the tag, or nothing so old was measured. */
static int find_tagged(struct tk_store *s, const struct tk_config *config, const char *tag,
        int64_t *revision_id, struct tk_error *err)
{
	AUTO(tk_diff_baseline) found = {0};
	size_t tagged = 0;

	TRY(find_tag(s, config, tag, &found, &tagged, err));
	if (found.count != 1)
		return tk_fail(err, TK_EUSAGE, "tag %.100s: %s", tag,
		        found.count ? "several upstreams have it; use the revision instead"
		        : tagged    ? "no revision up to it was measured"
		                    : "no upstream has it");
	*revision_id = found.revisions[0];
	return TK_OK;
}

static int find_revision(struct tk_store *s, const char *text, int64_t *id, struct tk_error *err)
{
	AUTO(tk_diff_baseline) found = {0};

	TRY(tk_store_select_int(s, "SELECT id FROM revision WHERE rev = ?1 ORDER BY id LIMIT 1",
	        TK_ARGS(text), 0, id, err));
	if (*id)
		return TK_OK;
	TRY(find_revisions(s, text, &found, err));
	if (found.count != 1)
		return tk_fail(err, TK_EUSAGE,
		        found.count ? "\"%.100s\" is ambiguous: %zu revisions start with it"
		                    : "\"%.100s\" is not a duration (7d), date (2026-11-21, "
		                      "yesterday), night, revision or tag",
		        text, found.count);
	*id = found.revisions[0];
	return TK_OK;
}

/* ---- nights ---------------------------------------------------------------------------------- */

/* "run:42": the night of a run. */
static int find_run_night(struct tk_store *s, const char *text, int64_t *id, struct tk_error *err)
{
	AUTO(tk_rows) runs = {0};

	TRY(tk_store_find_runs(s, text, &runs, err));
	if (runs.count != 1)
		return tk_fail(err, TK_EUSAGE, "run:%.60s: %s", text,
		        runs.count ? "several runs start with it" : "no such run");
	*id = TK_ROWS_AT(&runs, struct tk_run_row, 0)->night_id;
	return TK_OK;
}

/* The first night that measured a revision or a tag, or the night of a run. */
static int find_revision_night(struct tk_store *s, const struct tk_config *config, const char *text,
        int64_t *id, struct tk_error *err)
{
	int64_t revision_id = 0;
	int status;

	if (strncmp(text, "run:", 4) == 0)
		return find_run_night(s, text + 4, id, err);
	status = strncmp(text, "tag:", 4) == 0 ? find_tagged(s, config, text + 4, &revision_id, err)
	                                       : find_revision(s, text, &revision_id, err);
	if (status == TK_EUSAGE && !find_tagged(s, config, text, &revision_id, NULL))
		status = TK_OK;
	if (!status)
		status = tk_store_find_revision_night(s, revision_id, id, err);
	return status || *id ? status
	                     : tk_fail(err, TK_EUSAGE, "no night measured revision %.100s", text);
}

/* `end_of_day`: a day is its last second. */
static int find_moment(struct tk_store *s, const struct tk_config *config, const char *text,
        int64_t now_s, bool end_of_day, int64_t *out, struct tk_error *err)
{
	int64_t night_id = 0;

	if (!tk_when_parse(text, now_s, end_of_day, out, NULL))
		return TK_OK;
	TRY(find_revision_night(s, config, text, &night_id, err));
	return tk_store_select_int(
	        s, "SELECT as_of_s FROM night WHERE id = ?1", TK_ARGS(night_id), 0, out, err);
}

static int find_named_night(struct tk_store *s, const struct tk_config *config, const char *text,
        const char *machine, int64_t now_s, int64_t *id, struct tk_error *err)
{
	int64_t until;

	TRY(tk_store_select_int(
	        s, "SELECT id FROM night WHERE CAST(id AS TEXT) = ?1", TK_ARGS(text), 0, id, err));
	if (*id)
		return TK_OK;
	if (tk_time_parse(text, &until, NULL))
		return find_revision_night(s, config, text, id, err);
	TRY(find_moment(s, config, text, now_s, true, &until, err));
	TRY(tk_store_select_int(s,
	        "SELECT id FROM night_v WHERE as_of_s <= ?1 AND (?2 IS NULL OR machine = ?2)"
	        " ORDER BY as_of_s DESC LIMIT 1",
	        TK_ARGS(until, machine), 0, id, err));
	return *id ? TK_OK : tk_fail(err, TK_EUSAGE, "no night before or at \"%.100s\"", text);
}

/* The start of the range that holds the newest `last` nights of every machine. */
static int last_nights(struct tk_store *s, size_t last, const char *machine, int64_t *since_s,
        struct tk_error *err)
{
	return tk_store_select_int(s,
	        "SELECT min(as_of_s) FROM (SELECT n.as_of_s, row_number() OVER"
	        "  (PARTITION BY n.machine_id ORDER BY n.as_of_s DESC) AS age"
	        "  FROM night n JOIN machine m ON m.id = n.machine_id"
	        "  WHERE n.kind <> 'run' AND (?2 IS NULL OR m.name = ?2)) WHERE age <= ?1",
	        TK_ARGS(last, machine), INT64_MAX, since_s, err);
}

/* A range that starts after now and after every night is a mistake in a date. Nights may be later
 * than now where the clock was set back. */
static int check_not_future(struct tk_store *s, const struct tk_diff_range_spec *spec,
        int64_t since_s, int64_t now_s, struct tk_error *err)
{
	char now[TK_TIME_ISO_SIZE];
	int64_t newest_s;

	if (!spec->since || since_s <= now_s)
		return TK_OK;
	TRY(tk_store_select_int(
	        s, "SELECT max(as_of_s) FROM night", TK_NO_ARGS, now_s, &newest_s, err));
	return since_s <= newest_s
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE, "--since=%.100s is in the future; it is %s now",
	                         spec->since, tk_time_format_iso(now_s, now));
}

int tk_diff_range_resolve(struct tk_store *s, const struct tk_config *config,
        const struct tk_diff_range_spec *spec, const char *machine, int64_t now_s,
        struct tk_diff_range *out, struct tk_error *err)
{
	if ((spec->base || spec->head) && (spec->since || spec->until || spec->last))
		return tk_fail(
		        err, TK_EUSAGE, "--base and --head exclude --since, --until and --last");
	if (spec->since && spec->last)
		return tk_fail(err, TK_EUSAGE, "--since excludes --last");
	out->since_s = now_s - DEFAULT_SPAN_S;
	out->until_s = INT64_MAX;
	if (spec->last)
		TRY(last_nights(s, spec->last, machine, &out->since_s, err));
	if (spec->since)
		TRY(find_moment(s, config, spec->since, now_s, false, &out->since_s, err));
	if (spec->until)
		TRY(find_moment(s, config, spec->until, now_s, true, &out->until_s, err));
	if (spec->base)
		TRY(find_named_night(
		        s, config, spec->base, machine, now_s, &out->base_night_id, err));
	if (spec->head)
		TRY(find_named_night(
		        s, config, spec->head, machine, now_s, &out->head_night_id, err));
	if (out->since_s > out->until_s)
		return tk_fail(err, TK_EUSAGE, "--since is later than --until");
	return check_not_future(s, spec, out->since_s, now_s, err);
}

/* ---- baseline -------------------------------------------------------------------------------- */

/* "pinned:REV" and "tag:NAME" */
static int find_pinned(struct tk_store *s, const struct tk_config *config, const char *text,
        struct tk_diff_baseline *found, struct tk_error *err)
{
	size_t tagged;

	if (strncmp(text, "pinned:", 7) == 0) {
		TRY(find_revisions(s, text + 7, found, err));
		return found->count ? TK_OK
		                    : tk_fail(err, TK_EUSAGE,
		                              "no revision in the history starts with \"%.100s\"",
		                              text + 7);
	}
	TRY(find_tag(s, config, text + 4, found, &tagged, err));
	return found->count ? TK_OK
	                    : tk_fail(err, TK_EUSAGE, "tag %.100s: %s", text + 4,
	                              tagged ? "no revision up to it was measured"
	                                     : "no upstream has it");
}

int tk_diff_baseline_resolve(struct tk_store *s, const struct tk_config *config, const char *text,
        struct tk_diff_baseline *out, struct tk_detect_options *options, struct tk_error *err)
{
	static const char *const names[] = {[TK_BASELINE_WINDOW] = "window",
	        [TK_BASELINE_FIRST] = "first",
	        [TK_BASELINE_BEST] = "best"};
	int status = TK_OK;

	*out = (struct tk_diff_baseline){0};
	options->baseline = TK_BASELINE_PINNED;
	options->baseline_name = text;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(text, names[i]) == 0)
			options->baseline = (enum tk_baseline)i;
	if (options->baseline == TK_BASELINE_PINNED)
		status = find_pinned(s, config, text, out, err);
	options->baseline_revisions = out->revisions;
	options->baseline_revision_count = out->count;
	return status;
}
