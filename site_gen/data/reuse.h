/* Whether the old site can be gone on with, and what became of its past meanwhile.
 *
 * The state file of a site says what it was made from. Results are only ever added to a history, and come with a night,
 * so everything that a finished night of the old site said is still so where the same nights head the list and no run
 * joined them (the other half of a night, merged). Where anything else differs (templates, title, which series there
 * are), `tracker detect` has judged finished nights again or a merge says otherwise of them, everything is read and
 * written anew. So it is after a
 * power failure that has left files empty. */
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
	int64_t build;         /* number of the one that made the old site */
	int64_t last_night_id; /* nights up to this one were finished when the old site was made */
	int64_t newest_night_id;           /* the newest night of it */
	int64_t known_run_id, last_run_id; /* the newest run that it knows, and that there is now */
	size_t files;
	int64_t bytes;
	bool *past; /* by index of the series: it has got points before others that it had; NULL: none has */
	struct json_t *
	        leaving; /* pages that nothing new refers to any more: path and the build that found it so */
};

/* `digest`: of the templates and options. */
int tk_reuse_plan(const struct tk_model *m, const struct tk_output *out, const char *digest,
        bool everything, struct tk_reuse *r, struct tk_error *err);
/* Fills `past`; an import, whose runs are of many series, makes the old site unusable. */
int tk_reuse_find_backfilled(const struct tk_model *m, const struct tk_site_state *state,
        struct tk_reuse *r, struct tk_error *err);
bool tk_reuse_can_keep_night(const struct tk_reuse *r, int64_t night_id); /* its page may be kept */
/* Pages of nights and revisions that are no longer linked from what is written now go some builds later, when no page
 * that was written before refers to them either. */
int tk_reuse_retire_pages(const struct tk_model *m, struct tk_output *out, int64_t build,
        struct tk_reuse *r, struct tk_error *err);
int tk_reuse_write_state(const struct tk_model *m, struct tk_output *out, const char *digest,
        int64_t build, const struct tk_reuse *r, struct tk_error *err);
void tk_reuse_free(struct tk_reuse *r);

#endif
