/* Positions of the stored versions of a package. A version is stored with its place in the index; a
 * late release of an older line (1.9.5 after 1.10) moves the places after it. */
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "nightly/night.h"
#include "nightly/stages/recipe.h"
#include "upstream/repo.h"
#include <stdlib.h>

static int store_moved(struct tk_store *store, const struct tk_revision_row *const *rows,
        const int64_t *positions, size_t count, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; !status && i < count; i++) {
		struct tk_revision_row row = *rows[i];
		int64_t id = 0;
		row.position = positions[i];
		if (row.position != rows[i]->position)
			status = tk_store_put(store, TK_TABLE_revision, &row, &id, err);
	}
	return status;
}

/* `names`, `rows` and `positions` have space for all revisions. */
static size_t select_versions(const struct tk_rows *revisions, int64_t upstream_id,
        const char **names, const struct tk_revision_row **rows, int64_t *positions)
{
	size_t count = 0;
	for (size_t i = 0; i < revisions->count; i++) {
		const struct tk_revision_row *r = TK_ROWS_AT(revisions, struct tk_revision_row, i);
		if (r->upstream_id != upstream_id)
			continue;
		names[count] = r->rev;
		rows[count] = r;
		positions[count++] = r->position;
	}
	return count;
}

int tk_night_renumber_versions(
        struct tk_night *n, const struct tk_night_upstream *u, struct tk_error *err)
{
	struct tk_rows revisions = {0};
	struct tk_repo repo;
	struct tk_error reason = {0};
	tk_recipe_init_repo(n->config, u->config, &repo);
	int status = tk_store_list(n->store, TK_TABLE_revision, NULL, TK_NO_ARGS, &revisions, err);
	const char **names = tk_calloc(revisions.count + 1, sizeof *names);
	const struct tk_revision_row **rows = tk_calloc(revisions.count + 1, sizeof(*rows));
	int64_t *positions = tk_calloc(revisions.count + 1, sizeof *positions);
	if (!status && (!names || !rows || !positions)) {
		status = tk_fail(err, TK_ENOMEM, "out of memory for versions");
	} else if (!status) {
		size_t count = select_versions(&revisions, u->upstream_id, names, rows, positions);
		/* without the index the night goes on with the positions that it knows */
		if (tk_repo_number_versions(&repo, names, count, positions, &reason))
			tk_log(TK_LOG_WARN, "index", NULL, "%s", reason.message);
		else
			status = store_moved(n->store, rows, positions, count, err);
	}
	free(positions);
	free(rows);
	free(names);
	tk_rows_free(&revisions);
	return status;
}
