/* The versions of a package, and what each of its series measured with each of them. */
#ifndef TK_SITE_VERSIONS_H
#define TK_SITE_VERSIONS_H
#include <stdbool.h>
#include <stddef.h>

#include "site_gen/model/model.h"

#define TK_VERSIONS_SHOWN 40 /* the newest ones that were measured */

/* A time in the default mode of its device. */
struct tk_version_series {
	const struct tk_site_series *series;
	struct tk_point *at; /* of each version: its newest point; value NAN: none */
	double *compile_ns;  /* of each version; NAN: unknown */
	/* Of each version: the configuration that ran, where the series does not name one; NULL:
	 * not read yet. */
	char **configs;
};

/* The configurations of one problem on one device. */
struct tk_version_problem {
	const struct tk_version_series *series;
	size_t count;
	const struct tk_version_series **best; /* of each version: the fastest; NULL: none */
	const struct tk_site_series *vendor;   /* the fastest vendor's library; NULL: none */
	double vendor_ns;                      /* its newest time */
};

struct tk_versions {
	const struct tk_upstream_row *upstream;
	const struct tk_revision_row **at; /* in the order of versions (PEP 440) */
	size_t count;
	bool is_cut; /* older ones were measured, too */
	struct tk_version_series *series;
	size_t series_count;
	struct tk_version_problem *problems; /* in the order of the model's series */
	size_t problem_count;
	char **configs; /* of all series */
	size_t config_count;
	void *memory[3];
};

/* The revisions of this upstream are versions of a package, and a series follows them. */
bool tk_upstream_has_versions(const struct tk_model *m, const struct tk_upstream_row *u);
int tk_versions_load(const struct tk_model *m, const struct tk_upstream_row *u,
        struct tk_versions *out, struct tk_error *err);
void tk_versions_free(struct tk_versions *v);

/* The time of a problem with a version; NAN: not measured. */
double tk_version_time_ns(const struct tk_version_problem *p, size_t version);
/* The newest version before this one with which the problem was measured; SIZE_MAX: none. */
size_t tk_version_before(const struct tk_version_problem *p, size_t version);
/* The problem takes another time than with the version before: the intervals do not overlap, and
 * the times differ by at least `tie`. */
bool tk_version_is_step(
        const struct tk_version_problem *p, size_t before, size_t version, double tie);

#endif
