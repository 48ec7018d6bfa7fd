/* Builds two revisions of an upstream for a command that measures them in its own way. */
#ifndef TK_AB_REVISIONS_H
#define TK_AB_REVISIONS_H
#include "nightly/ab/ab.h"

struct tk_ab_revisions {
	char *path[TK_AB_SIDES]; /* of the backend */
	struct tk_ab_side_report side[TK_AB_SIDES];
	const char *options; /* of the upstream, the configuration's; NULL: none */
};

/* From the cache where it has them. `specs` are as in struct tk_ab_request. TK_EUSAGE: no such
 * upstream, revision or backend. Free *out in any case. */
int tk_ab_revisions_build(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, const char *upstream, const char *backend,
        const char *const specs[TK_AB_SIDES], struct tk_ab_revisions *out, struct tk_error *err);
void tk_ab_revisions_free(struct tk_ab_revisions *r);

#endif
