#include "cli/diff/baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "config/config.h"
#include "nightly/stages/upstream_build.h"
#include "store/store.h"
#include "upstream/repo.h"

#define REVISION_MIN 4 /* digits; shorter prefixes of a hash are ambiguous */

struct tables {
	struct tk_rows upstreams, revisions;
};

static int load(struct tk_store *s, struct tables *t, struct tk_error *err)
{
	int status = tk_store_list(s, TK_TABLE_upstream, NULL, TK_NO_ARGS, &t->upstreams, err);

	return status ? status
	              : tk_store_list(s, TK_TABLE_revision, NULL, TK_NO_ARGS, &t->revisions, err);
}

static void unload(struct tables *t)
{
	tk_rows_free(&t->upstreams);
	tk_rows_free(&t->revisions);
}

static int add(struct tk_diff_baseline *b, int64_t id, struct tk_error *err)
{
	int64_t *grown = tk_realloc(b->revisions, (b->count + 1) * sizeof *grown);

	b->revisions = grown;
	grown[b->count++] = id;
	return TK_OK;
}

/* The tagged revision, or the newest measured one before it. */
static int64_t find_measured(
        const struct tables *t, const char *upstream, const struct tk_revision *tagged)
{
	const struct tk_revision_row *best = NULL;
	int64_t upstream_id = 0;

	for (size_t i = 0; i < t->upstreams.count; i++)
		if (strcmp(TK_ROWS_AT(&t->upstreams, struct tk_upstream_row, i)->name, upstream) ==
		        0)
			upstream_id = TK_ROWS_AT(&t->upstreams, struct tk_upstream_row, i)->id;
	for (size_t i = 0; i < t->revisions.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&t->revisions, struct tk_revision_row, i);

		if (r->upstream_id != upstream_id)
			continue;
		if (strcmp(r->rev, tagged->id) == 0)
			return r->id;
		if (r->position > 0 && r->position <= tagged->position &&
		        (!best || r->position > best->position))
			best = r;
	}
	return best ? best->id : 0;
}

/* Adds the measured revision of the tag for each upstream that has the tag. *tagged: how many have
 * it, measured or not. An unreachable upstream is a warning, or the error if no other has the
 * tag. */
static int find_tag(const struct tables *t, const struct tk_config *config, const char *tag,
        struct tk_diff_baseline *found, size_t *tagged, struct tk_error *err)
{
	struct tk_error unreachable = {0};
	char ref[300];
	int status = TK_OK;

	*tagged = 0;
	snprintf(ref, sizeof ref, "refs/tags/%.250s", tag);
	for (size_t i = 0; !status && i < config->upstream_count; i++) {
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
		id = find_measured(t, u->name, &revision);
		if (id)
			status = add(found, id, err);
	}
	if (!status && unreachable.status && *tagged)
		tk_log(TK_LOG_WARN, "unreachable", NULL, "tag %.100s: %s", tag,
		        unreachable.message);
	else if (!status && unreachable.status)
		status = tk_fail(
		        err, unreachable.status, "tag %.100s: %s", tag, unreachable.message);
	return status;
}

int tk_diff_resolve_tag(struct tk_store *s, const struct tk_config *config, const char *tag,
        int64_t *revision_id, struct tk_error *err)
{
	struct tk_diff_baseline found = {0};
	struct tables t = {0};
	size_t tagged = 0;
	int status = load(s, &t, err);

	if (!status)
		status = find_tag(&t, config, tag, &found, &tagged, err);
	if (!status && found.count == 1)
		*revision_id = found.revisions[0];
	else if (!status)
		status = tk_fail(err, TK_EUSAGE, "tag %.100s: %s", tag,
		        found.count ? "several upstreams have it; use the revision instead"
		        : tagged    ? "no revision up to it was measured"
		                    : "no upstream has it");
	tk_diff_baseline_free(&found);
	unload(&t);
	return status;
}

static int find_pinned(const struct tables *t, const char *text, struct tk_diff_baseline *found,
        struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < t->revisions.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&t->revisions, struct tk_revision_row, i);

		if (strcmp(r->rev, text) == 0 ||
		        (strlen(text) >= REVISION_MIN && strncmp(r->rev, text, strlen(text)) == 0))
			status = add(found, r->id, err);
	}
	return status || found->count
	               ? status
	               : tk_fail(err, TK_EUSAGE,
	                         "no revision in the history starts with \"%.100s\"", text);
}

static int find_revisions(struct tk_store *s, const struct tk_config *config, const char *text,
        struct tk_diff_baseline *found, struct tk_error *err)
{
	struct tables t = {0};
	size_t tagged;
	int status = load(s, &t, err);

	if (!status && strncmp(text, "pinned:", 7) == 0)
		status = find_pinned(&t, text + 7, found, err);
	else if (!status)
		status = find_tag(&t, config, text + 4, found, &tagged, err);
	if (!status && !found->count)
		status = tk_fail(err, TK_EUSAGE, "tag %.100s: %s", text + 4,
		        tagged ? "no revision up to it was measured" : "no upstream has it");
	unload(&t);
	return status;
}

/* The kinds without an argument; "pinned:REV" and "tag:NAME" are TK_BASELINE_PINNED. */
static enum tk_baseline parse_kind(const char *text)
{
	static const char *const names[] = {[TK_BASELINE_WINDOW] = "window",
	        [TK_BASELINE_FIRST] = "first",
	        [TK_BASELINE_BEST] = "best"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(text, names[i]) == 0)
			return (enum tk_baseline)i;
	return TK_BASELINE_PINNED;
}

int tk_diff_baseline_resolve(struct tk_store *s, const struct tk_config *config, const char *text,
        struct tk_diff_baseline *out, struct tk_detect_options *options, struct tk_error *err)
{
	int status = TK_OK;

	*out = (struct tk_diff_baseline){0};
	options->baseline = parse_kind(text);
	options->baseline_name = text;
	if (options->baseline == TK_BASELINE_PINNED)
		status = find_revisions(s, config, text, out, err);
	options->baseline_revisions = out->revisions;
	options->baseline_revision_count = out->count;
	return status;
}

void tk_diff_baseline_free(struct tk_diff_baseline *b)
{
	free(b->revisions);
	*b = (struct tk_diff_baseline){0};
}
