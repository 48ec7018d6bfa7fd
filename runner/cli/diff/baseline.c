/* See diff_baseline.h. */
#include "cli/diff/baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "nightly/stages/recipe.h"
#include "store/store.h"
#include "upstream/repo.h"

#define REVISION_MIN 4 /* shorter prefixes of a hash name too much */

struct tables {
	struct tk_rows upstreams, revisions;
};

static int load(struct tk_store *s, struct tables *t, struct tk_error *err)
{
	int rc = tk_store_list_upstreams(s, &t->upstreams, err);

	return rc ? rc : tk_store_list_revisions(s, &t->revisions, err);
}

static void unload(struct tables *t)
{
	tk_rows_free(&t->upstreams);
	tk_rows_free(&t->revisions);
}

static int add(struct tk_diff_baseline *b, int64_t id, struct tk_error *err)
{
	int64_t *grown = realloc(b->revisions, (b->count + 1) * sizeof *grown);

	if (!grown)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	b->revisions = grown;
	grown[b->count++] = id;
	return TK_OK;
}

/* The revision itself, or the newest before it that was measured. */
static int64_t measured(
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

/* Adds the revision of the tag for each upstream that has it. *tagged: how many have, measured or
 * not. An upstream that could not be asked is warned of; where none of the others has the tag, that
 * is the error. */
static int find_tag(const struct tables *t, const struct tk_config *config, const char *tag,
        struct tk_diff_baseline *found, size_t *tagged, struct tk_error *err)
{
	struct tk_error unasked = {0};
	char ref[300];
	int rc = TK_OK;

	*tagged = 0;
	snprintf(ref, sizeof ref, "refs/tags/%.250s", tag);
	for (size_t i = 0; !rc && i < config->upstream_count; i++) {
		const struct tk_upstream_config *u = &config->upstreams[i];
		struct tk_revision revision;
		struct tk_error why = {0};
		struct tk_repo source;
		int64_t id;

		if (!u->enabled || (u->kind != TK_UPSTREAM_SELF && u->kind != TK_UPSTREAM_GIT))
			continue;
		tk_recipe_init_source(config, u, &source);
		int asked = tk_repo_find_revision(&source, ref, &revision, &why);
		if (asked && asked != TK_ENOTFOUND)
			unasked = why;
		if (asked)
			continue;
		++*tagged;
		id = measured(t, u->name, &revision);
		if (id)
			rc = add(found, id, err);
	}
	if (!rc && unasked.status && *tagged)
		tk_log(TK_LOG_WARN, "unasked", NULL, "tag %.100s: %s", tag, unasked.message);
	else if (!rc && unasked.status)
		rc = tk_fail(err, unasked.status, "tag %.100s: %s", tag, unasked.message);
	return rc;
}

int tk_diff_resolve_tag(struct tk_store *s, const struct tk_config *config, const char *tag,
        int64_t *revision_id, struct tk_error *err)
{
	struct tk_diff_baseline found = {0};
	struct tables t = {0};
	size_t tagged = 0;
	int rc = load(s, &t, err);

	if (!rc)
		rc = find_tag(&t, config, tag, &found, &tagged, err);
	if (!rc && found.count == 1)
		*revision_id = found.revisions[0];
	else if (!rc)
		rc = tk_fail(err, TK_EUSAGE, "tag %.100s: %s", tag,
		        found.count ? "several upstreams have it; use the revision instead"
		        : tagged    ? "no revision up to it was measured"
		                    : "no upstream has it");
	tk_diff_baseline_free(&found);
	unload(&t);
	return rc;
}

static int find_pinned(const struct tables *t, const char *text, struct tk_diff_baseline *found,
        struct tk_error *err)
{
	int rc = TK_OK;

	for (size_t i = 0; !rc && i < t->revisions.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&t->revisions, struct tk_revision_row, i);

		if (strcmp(r->rev, text) == 0 ||
		        (strlen(text) >= REVISION_MIN && strncmp(r->rev, text, strlen(text)) == 0))
			rc = add(found, r->id, err);
	}
	return rc || found->count
	               ? rc
	               : tk_fail(err, TK_EUSAGE,
	                         "no revision in the history starts with \"%.100s\"", text);
}

static int find_revisions(struct tk_store *s, const struct tk_config *config, const char *text,
        struct tk_diff_baseline *found, struct tk_error *err)
{
	struct tables t = {0};
	size_t tagged;
	int rc = load(s, &t, err);

	if (!rc && strncmp(text, "pinned:", 7) == 0)
		rc = find_pinned(&t, text + 7, found, err);
	else if (!rc)
		rc = find_tag(&t, config, text + 4, found, &tagged, err);
	if (!rc && !found->count)
		rc = tk_fail(err, TK_EUSAGE, "tag %.100s: %s", text + 4,
		        tagged ? "no revision up to it was measured" : "no upstream has it");
	unload(&t);
	return rc;
}

int tk_diff_baseline_resolve(struct tk_store *s, const struct tk_config *config, const char *text,
        struct tk_diff_baseline *out, struct tk_detect_options *options, struct tk_error *err)
{
	int rc = TK_OK;

	*out = (struct tk_diff_baseline){0};
	options->baseline = strcmp(text, "window") == 0  ? TK_BASELINE_WINDOW
	                    : strcmp(text, "first") == 0 ? TK_BASELINE_FIRST
	                    : strcmp(text, "best") == 0  ? TK_BASELINE_BEST
	                                                 : TK_BASELINE_PINNED;
	options->baseline_name = text;
	if (options->baseline == TK_BASELINE_PINNED)
		rc = find_revisions(s, config, text, out, err);
	options->baseline_revisions = out->revisions;
	options->baseline_revision_count = out->count;
	return rc;
}

void tk_diff_baseline_free(struct tk_diff_baseline *b)
{
	free(b->revisions);
	*b = (struct tk_diff_baseline){0};
}
