/* Whether a build can update the old site in place, and which of its older data have changed since.
 *
 * The state file of a site records what it was made from. Results are only ever added to a history,
 * together with a night. So the pages of finished nights stay valid while the same nights are at
 * the head of the list and no run was merged into them. The site is rebuilt as a whole if
 * templates, title or the set of series changed, if finished nights were analysed again, and after
 * a power failure that left files empty. */
#ifndef TK_SITE_REUSE_H
#define TK_SITE_REUSE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t;
struct tk_error;
struct tk_model;
struct tk_output;
struct tk_site_state;

struct tk_reuse {
	bool usable;
	int64_t build;         /* number of the build that made the old site */
	int64_t last_night_id; /* nights up to this one were finished when the old site was made */
	int64_t newest_night_id;           /* the newest night of it */
	int64_t known_run_id, last_run_id; /* the newest run of the old site; the newest run now */
	size_t files;
	int64_t bytes, marker_bytes; /* of all files; of the state file among them */
	bool *backfilled; /* by index of the series: it got points older than its newest; NULL: none */
	/* pages without references from new pages: path -> the build since when */
	struct json_t *retiring;
};

/* `digest`: of the templates and options. */
int tk_reuse_plan(const struct tk_model *m, const struct tk_output *out, const char *digest,
        bool everything, struct tk_reuse *r, struct tk_error *err);
/* Fills `backfilled`. An import, whose runs have points of many series, makes the old site
 * unusable. */
int tk_reuse_find_backfilled(const struct tk_model *m, const struct tk_site_state *state,
        struct tk_reuse *r, struct tk_error *err);
bool tk_reuse_can_keep_night(
        const struct tk_reuse *r, int64_t night_id); /* the page of a finished night may be kept */
/* Removes pages of nights and revisions some builds after the last new page linked them, when no
 * old page refers to them either. */
int tk_reuse_retire_pages(const struct tk_model *m, struct tk_output *out, int64_t build,
        struct tk_reuse *r, struct tk_error *err);
int tk_reuse_write_state(const struct tk_model *m, struct tk_output *out, const char *digest,
        int64_t build, const struct tk_reuse *r, struct tk_error *err);
void tk_reuse_free(struct tk_reuse *r);

#endif
