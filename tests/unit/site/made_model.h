/* A model made in memory, for tests of what the pages compute from it: no store, no files. Rows are
 * added one by one and joined at the end. Text belongs to the test. */
#ifndef TK_MADE_MODEL_H
#define TK_MADE_MODEL_H
#include "site_gen/model/model.h"

#define MADE_MAX 64

struct made_model {
	struct tk_model model;
	struct tk_machine_row machine_rows[4];
	struct tk_site_machine machines[4];
	struct tk_device_row device_rows[MADE_MAX];
	struct tk_site_device devices[MADE_MAX];
	struct tk_environment_row environments[MADE_MAX];
	struct tk_upstream_row upstreams[8];
	struct tk_revision_row revisions[MADE_MAX];
	struct tk_build_row builds[MADE_MAX];
	int64_t build_revisions[MADE_MAX];
	struct tk_problem_row problems[MADE_MAX];
	struct tk_night_row night_rows[MADE_MAX];
	struct tk_site_night nights[MADE_MAX];
	struct tk_series_row series_rows[MADE_MAX];
	struct tk_site_series series[MADE_MAX];
	struct tk_change_point_row changes[MADE_MAX];
	struct tk_run_row runs[MADE_MAX];
	size_t environment_count, upstream_count, revision_count, build_count, problem_count,
	        change_count, run_count;
};

/* One machine, "lab". Ids are counted from 1. */
void made_init(struct made_model *m);
struct tk_site_machine *made_add_machine(struct made_model *m, const char *name);
/* Of the first machine; its mode is "paced". */
struct tk_site_device *made_add_device(
        struct made_model *m, const char *kind, const char *name, const char *arch);
int64_t made_add_environment(
        struct made_model *m, const struct tk_site_device *device, const char *attributes);
const struct tk_upstream_row *made_add_upstream(
        struct made_model *m, const char *name, const char *kind);
/* A revision with one build, at the next position of its upstream; returns the build's id. */
int64_t made_add_build(
        struct made_model *m, const struct tk_upstream_row *upstream, const char *rev);
const struct tk_problem_row *made_add_problem(
        struct made_model *m, const char *op, const char *dtype, double flops, double bytes);
/* Newest first, as the model has them. */
const struct tk_night_row *made_add_night(
        struct made_model *m, const struct tk_site_machine *machine, int64_t as_of_s);
/* A time of a suite in the mode "paced". Series of a problem must be added one after the other. */
struct tk_site_series *made_add_series(struct made_model *m, const struct tk_site_device *device,
        const struct tk_upstream_row *upstream, const struct tk_problem_row *problem,
        const char *backend);
/* The newest point, with an interval of +-half of the value; half NAN: without one. */
struct tk_point *made_add_point(struct tk_site_series *s, int64_t as_of_s, double value_ns,
        double half, int64_t build_id, int64_t environment_id);
/* The last night's run of the series had this outcome. */
void made_fail(struct made_model *m, struct tk_site_series *s, enum tk_outcome outcome,
        const char *message);
struct tk_change_point_row *made_add_change(struct made_model *m, const struct tk_site_series *s,
        int64_t as_of_s, double before, double after);

/* Joins what was added; nothing is added afterwards. */
void made_join(struct made_model *m);
void made_free(struct made_model *m);

#endif
