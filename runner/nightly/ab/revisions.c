/* See revisions.h. */
#include "nightly/ab/revisions.h"
#include "base/error.h"
#include "base/memory.h"
#include "nightly/ab/side.h"
#include "nightly/session.h"
#include <stdlib.h>
#include <string.h>

static int take_path(
        const struct tk_ab_side *side, const char *backend, char **path, struct tk_error *err)
{
	const struct tk_artifact *a = side->artifact;
	for (size_t i = 0; i < a->backend_count; i++)
		if (strcmp(a->backends[i].name, backend) == 0) {
			*path = tk_strdup(a->backends[i].path);
			return *path ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
		}
	return tk_fail(err, TK_EUSAGE, "%s%s: the build has no backend \"%s\"",
	        side->report->option, side->report->spec, backend);
}

static int build_sides(struct tk_night *n, const struct tk_upstream_config *u, const char *backend,
        const char *const specs[], struct tk_ab_revisions *out, struct tk_error *err)
{
	static const char *const names[TK_AB_SIDES] = {"base", "head"},
	                         *const options[TK_AB_SIDES] = {"--base=", "--head="};
	struct tk_ab_side side[TK_AB_SIDES] = {0};
	int status = TK_OK;
	for (int k = 0; !status && k < TK_AB_SIDES; k++) {
		side[k].report = &out->side[k];
		out->side[k].name = names[k];
		out->side[k].option = options[k];
		status = tk_ab_side_resolve(n, u, specs[k], &side[k], err);
	}
	for (int k = 0; !status && k < TK_AB_SIDES; k++) {
		status = tk_ab_side_build(n, u, &side[k], err);
		if (!status)
			status = take_path(&side[k], backend, &out->path[k], err);
	}
	for (int k = 0; k < TK_AB_SIDES; k++)
		tk_ab_side_close(&side[k]);
	return status;
}

int tk_ab_revisions_build(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, const char *upstream, const char *backend,
        const char *const specs[TK_AB_SIDES], struct tk_ab_revisions *out, struct tk_error *err)
{
	const struct tk_upstream_config *u = NULL;
	struct tk_session s;
	*out = (struct tk_ab_revisions){0};
	int status = tk_ab_find_upstream(config, upstream, &u, err);
	if (status)
		return status;
	out->options = u->options;
	status = tk_session_open_unstored(config, db_path, options, &s, err);
	if (!status)
		status = build_sides(&s.night, u, backend, specs, out, err);
	tk_session_close(&s);
	return status;
}

void tk_ab_revisions_free(struct tk_ab_revisions *r)
{
	for (int k = 0; k < TK_AB_SIDES; k++)
		free(r->path[k]);
	*r = (struct tk_ab_revisions){0};
}
