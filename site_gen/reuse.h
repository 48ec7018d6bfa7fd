/* What of the old site can be taken over unread: the cold data of the series and the pages of nights long finished.
 *
 * The state file of a site says what it was made from. Results are only ever added to a history, and come with a night,
 * so everything that a finished night of the old site said is still so where the same nights head the list. Where
 * anything else differs (templates, title, time cut), nothing is taken over and everything is read. */
#ifndef TK_SITE_REUSE_H
#define TK_SITE_REUSE_H
#include <stdbool.h>
#include <stdint.h>

struct tk_error;
struct tk_model;
struct tk_output;

struct tk_reuse {
	bool usable;
	int64_t cut_s;         /* points before it are cold */
	int64_t last_night_id; /* nights up to this one were finished when the old site was made */
	int64_t *touched;      /* ids of series that have got points before the cut since then, sorted */
	int64_t touched_count;
};

/* `digest`: of the templates and options. */
int tk_reuse_plan(const struct tk_model *m, const struct tk_output *out, const char *digest, bool everything,
        struct tk_reuse *r, struct tk_error *err);
bool tk_reuse_series(const struct tk_reuse *r, int64_t series_id); /* its cold file may be kept */
bool tk_reuse_night(const struct tk_reuse *r, int64_t night_id);   /* its page may be kept */
int tk_reuse_write_state(
        const struct tk_model *m, struct tk_output *out, const char *digest, int64_t cut_s, struct tk_error *err);
void tk_reuse_free(struct tk_reuse *r);

#endif
