/* Histories for the tests of the site. Any failure ends the program. */
#ifndef TK_SEED_H
#define TK_SEED_H
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "store/store.h"

#define DAY_S 86400
#define FIRST_S 1790038800 /* 2026-09-22T01:00:00Z */
#define SAMPLES 41
#define HOSTILE "<script>alert('1')</script>\"&"

extern struct tk_store *seed_db;
extern struct tk_error seed_err;

/* The run that is stored next. */
struct seed_context {
	int64_t night, night_s, build, environment;
	int64_t seq;
	bool samples; /* samples are stored */
};

void seed_check(int status);
int seed_word(const struct tk_vocabulary *v, const char *name);
int64_t seed_machine(const char *name, const char *attributes);
int64_t seed_device(
        int64_t machine_id, const char *kind, const char *name, const char *arch, const char *slug);
int64_t seed_environment(int64_t device_id, const char *attributes);
int64_t seed_upstream(const char *name, const char *kind, const char *url);
int64_t seed_revision(int64_t upstream_id, const char *rev, int64_t position, const char *subject);
int64_t seed_build(int64_t revision_id, const char *key, const char *status, const char *message,
        const char *log);
int64_t seed_problem(const char *text, const char *title);
int64_t seed_series_of_metric(int64_t device_id, int64_t upstream_id, const char *backend,
        const char *config, int64_t problem_id, const char *role, const char *mode,
        const char *metric);
int64_t seed_series(int64_t device_id, int64_t upstream_id, const char *backend, const char *config,
        int64_t problem_id, const char *role, const char *mode);
int64_t seed_begin_night(int64_t machine_id, int64_t t_s);
void seed_stage(int64_t night, const char *name, const char *status, int64_t from_s, int64_t to_s,
        const char *detail);
void seed_resolution(int64_t night, int64_t upstream_id, int64_t revision_id, int64_t build_id,
        const char *status, const char *message);
int64_t seed_run(const struct seed_context *w, int64_t series_id, const char *outcome,
        const char *message, double value, double noise);
void seed_ceiling(int64_t night, int64_t device_id, const char *name, const char *source,
        const char *unit, double value);

void tiny(void);
void demo(bool hostile);
void fleet(void);

#endif
