/* The state of one night, shared by its stages. Private to nightly/. */
#ifndef TK_NIGHT_H
#define TK_NIGHT_H
#include "build/build.h"
#include "config/config.h"
#include "nightly/device.h"
#include "nightly/nightly.h"
#include "nightly/plan/modules.h"
#include "store/store.h"
#include "upstream/repo.h"
#include <jansson.h>

struct tk_job_request;
struct tk_sequence_entry;
struct tk_text_entry;

#define TK_NIGHT_ARTIFACTS_MAX 8

/* One upstream on its way from a branch to backends that can be measured. */
struct tk_night_upstream {
	const struct tk_upstream_config *config;
	int64_t upstream_id, revision_id, build_id;
	char rev[128];
	enum tk_resolution_status status;
	char message[512];
	struct tk_artifact *artifacts[TK_NIGHT_ARTIFACTS_MAX]; /* builtin has one for each module */
	size_t artifact_count;
	bool failed; /* the build failed: there is nothing to measure */
};

struct tk_night {
	const struct tk_config *config;
	struct tk_store *store;
	const struct tk_night_options *options;
	struct tk_night_report *report;
	struct tk_modules *modules;
	struct tk_sequence_entry *sequences; /* of its modes, once they are needed */
	struct tk_text_entry *texts;         /* of its problems, once they are needed */
	int64_t night_id, machine_id, as_of_s, started_s, started_mono_ns;
	uint64_t seed;
	json_t *request;        /* the options that decide its jobs: night_start.c */
	char **request_devices; /* a list of strings in `request` */
	struct tk_night_device *devices;
	size_t device_count;
	struct tk_night_upstream *upstreams;
	size_t upstream_count;
};

/* Starts a new row of the history, or with --resume the newest night that was stopped: sets the
 * ids, times, seed and request of *n; with --resume also *options, which n->options points to.
 * TK_ENOTFOUND: no night can be resumed; TK_EUSAGE: an option differs from the stopped night's. */
int tk_night_start(struct tk_night *n, struct tk_night_options *options, struct tk_error *err);

/* The stages. Each stores its result. An error ends the night; a failed build or job is a row. */
int tk_night_probe(struct tk_night *n, struct tk_error *err);
int tk_night_resolve(struct tk_night *n, struct tk_error *err);
int tk_night_build(struct tk_night *n, struct tk_error *err);
int tk_night_plan(struct tk_night *n, struct tk_error *err);
int tk_night_measure(struct tk_night *n, struct tk_error *err);
int tk_night_confirm(struct tk_night *n, struct tk_error *err);
int tk_night_detect(struct tk_night *n, struct tk_error *err);
int tk_night_bisect(struct tk_night *n, struct tk_error *err);
int tk_night_trace(struct tk_night *n, struct tk_error *err);
int tk_night_tune(struct tk_night *n, struct tk_error *err);
int tk_night_tidy(struct tk_night *n, struct tk_error *err);
int tk_night_publish(struct tk_night *n, struct tk_error *err);

/* Writes the verdicts and alerts of a night, with all A/B pairs so far, after a command that has
 * stored its own result: an error adds that the result is kept. The caller frees *report. */
int tk_night_rerun_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err);

/* How a problem is measured in this night, as configured. */
struct tk_job_request tk_night_job_request(struct tk_night *n, const struct tk_series_row *series,
        const struct tk_problem_row *problem, const char *backend_path, const char *options);

int tk_night_put_machine(struct tk_night *n, struct tk_error *err);
/* Stores a probed device of that machine with its environment; their ids are in *d. */
int tk_night_put_device(struct tk_night *n, struct tk_night_device *d, struct tk_error *err);
/* Stores an upstream and its revision; their ids are in *u. */
int tk_night_put_revision(struct tk_night *n, struct tk_night_upstream *u,
        const struct tk_revision *r, struct tk_error *err);
/* Builds the revision u->rev, or takes it from the cache, and stores the build, also a failed
 * one. */
int tk_night_build_upstream(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err);

/* Since the night began. */
double tk_night_elapsed_s(const struct tk_night *n);
/* What a stage may take of its budget: no more than is left of the night's. */
double tk_night_find_share_s(const struct tk_night *n, double budget_s);
/* Whether a failure within a stage ends it. Others cost what failed: a build, a comparison. */
bool tk_night_is_fatal(int status);
/* Shows what the night is doing; detail may be NULL. */
void tk_night_announce_stage(const struct tk_night *n, const char *stage, const char *detail);
void tk_night_free(struct tk_night *n);

#endif
