#ifndef TK_SITE_RECORDS_H
#define TK_SITE_RECORDS_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/outcome.h"
#include "core/tune.h"
#include "core/tune_config.h"
#include "store/store.h"

struct tk_error;
struct tk_kernel_report_row;
struct tk_model;
struct tk_problem_row;
struct tk_site_device;
struct tk_site_series;
struct tk_tuning_group;
struct tk_tuning_row;

/* The traces of one problem on one backend, its configuration and device. */
struct tk_site_kernel_trace {
	const struct tk_site_device *device;
	const struct tk_problem_row *problem;
	/* the newest without a base; where all have one, the newest */
	const struct tk_kernel_report_row *newest;
	char *file;
};

/* Levels of the memory, farthest first. */
enum { TK_PROFILED_DRAM, TK_PROFILED_L2, TK_PROFILED_L1, TK_PROFILED_LEVELS };
extern const char *const tk_profiled_level_names[TK_PROFILED_LEVELS];

/* What `tracker profile` counted in one launch. NAN: not counted. */
struct tk_site_profile {
	double tensor_share;
	double bytes[TK_PROFILED_LEVELS];
	double intensity[TK_PROFILED_LEVELS]; /* FLOP of the problem for each byte that was moved */
};
void tk_kernel_profile_read(
        const struct tk_kernel_report_row *row, double flops, struct tk_site_profile *out);

/* Whether a report is of these traces: one with a base is a comparison. */
bool tk_kernel_trace_has_report(
        const struct tk_site_kernel_trace *t, const struct tk_kernel_report_row *row);

/* One launch of a kernel on one multiprocessor, as `tracker trace` stored it, checked. */

#define TK_TIMELINE_LANES_MAX 64
#define TK_TIMELINE_REGIONS_MAX 64

/* What a multiprocessor does, in the order of the tables: kinds of regions, then the rest. */
#define TK_DOES(X) \
	X(TENSOR, "matrix products") \
	X(COMPUTE, "compute") \
	X(STORE, "store") \
	X(LOAD, "load") \
	X(WAIT, "wait") \
	X(OTHER, "outside of regions") \
	X(IDLE, "no block")
enum tk_does {
#define TK_DOES_ENUM(id, name) TK_DOES_##id,
	TK_DOES(TK_DOES_ENUM)
#undef TK_DOES_ENUM
	        TK_DOES_COUNT
};
extern const char *const tk_does_names[TK_DOES_COUNT];
/* A name that is none of them is a wait. */
enum tk_does tk_does_from_name(const char *name);

/* Times are ns from the begin of the launch. */
struct tk_timeline_group {
	int64_t block, begin_ns, end_ns;
	size_t lane, name; /* of group_names */
};
struct tk_timeline_span {
	size_t group, region;
	int64_t begin_ns, end_ns;
	bool is_async; /* goes on beside what the group does */
};

/* Texts belong to the JSON that it was read from. */
struct tk_timeline {
	const char *kernel;
	int64_t multiprocessor, duration_ns, left_out;
	const char *regions[TK_TIMELINE_REGIONS_MAX];
	enum tk_does does[TK_TIMELINE_REGIONS_MAX];
	size_t region_count;
	/* a lane holds groups of one name, one after the other */
	char lanes[TK_TIMELINE_LANES_MAX][64];
	size_t lane_count;
	struct tk_timeline_group *groups;
	size_t group_count;
	struct tk_timeline_span *spans; /* by begin */
	size_t span_count;
};

/* An element of a stored timeline. What is not of its form is left out. Free *out. */
void tk_timeline_read(const json_t *stored, struct tk_timeline *out);
void tk_timeline_free(struct tk_timeline *t);

/* Machine code of builds: one list of functions for each build, read once. */

struct tk_code_cache {
	struct tk_code_list *lists; /* in the order of first use */
	size_t count, cap, last; /* last: the list found last; the next one is mostly needed next */
};

/* All functions of a build, by backend and name. Valid until another build is read. */
int tk_code_cache_list(struct tk_code_cache *codes, struct tk_store *store, int64_t build_id,
        const struct tk_rows **out, struct tk_error *err);
/* The row of a function of a backend in a build; name "": of the whole backend. *out NULL: not
 * recorded. It lives as long as the cache. */
int tk_code_cache_find(struct tk_code_cache *codes, struct tk_store *store, int64_t build_id,
        const char *backend, const char *name, const struct tk_kernel_row **out,
        struct tk_error *err);
void tk_code_cache_free(struct tk_code_cache *codes);

/* A/B runs: pairs of an old and a new build of one series, run right after each other. */

/* new / old - 1 with its distribution-free 95 % interval; NAN: none */
struct tk_ab_result_compare_level {
	double change, lo, hi;
};
struct tk_ab_plot {
	double *differences;  /* log(new / old) of the medians, for pairs with two timings */
	size_t count, failed; /* pairs with two timings, others */
	struct tk_ab_result_compare_level median, fastest;
};

/* The pairs of two revisions. Free with tk_ab_plot_free() after success. */
int tk_ab_plot_load(const struct tk_model *m, const struct tk_site_series *s, const char *good_rev,
        const char *bad_rev, struct tk_ab_plot *out, struct tk_error *err);
void tk_ab_plot_free(struct tk_ab_plot *p);

/* The stored results of `tracker tune`: by backend and problem, joined with their series. */

/* What holds for one problem on one backend, its options, mode and device. */
struct tk_site_tuning {
	const struct tk_site_device *device;
	const struct tk_problem_row *problem;
	const struct tk_tuning_row *row;     /* the newest that decided, else the newest */
	const struct tk_tuning_group *group; /* that it is part of */
	enum tk_tune_state state;
	char *file;
};

/* The candidates of a stored tuning and the parameters of their configurations. */

#define TK_TUNING_VALUES_MAX 24 /* of a parameter; one with more is left out */

struct tk_tuning_candidate {
	char config[128], message[200];
	enum tk_outcome outcome;
	double evaluations, median_ns, slower, lo, hi; /* NAN: unknown */
	bool is_dropped;
	/* once the parameters are found; NAN: it does not have the parameter */
	double values[TK_TUNE_PARAMETERS_MAX];
};

struct tk_tuning_parameter {
	char name[TK_TUNE_PARAMETER_SIZE];
	size_t place; /* in tk_tuning_candidate.values */
	/* ascending; one that some candidates do not have ends with NAN */
	double values[TK_TUNING_VALUES_MAX];
	size_t count;
	double effect; /* how far its values differ, as a variance of logarithms of times */
};

struct tk_tuning_space {
	struct tk_tuning_candidate *candidates; /* as stored */
	size_t count;
	/* once they are found; with at least two values, the largest effect first */
	struct tk_tuning_parameter parameters[TK_TUNE_PARAMETERS_MAX];
	size_t parameter_count;
	double best_ns; /* NAN: no candidate has a time */
};

/* The candidates; what another program wrote is left out where it makes no sense. Free in any
 * case. */
void tk_tuning_space_read(const struct tk_tuning_row *row, struct tk_tuning_space *out);
void tk_tuning_space_free(struct tk_tuning_space *s);
/* Once, before the landscape is drawn. */
void tk_tuning_space_find_parameters(struct tk_tuning_space *s);
/* The fastest candidate with these values; `b` may be NULL. NULL: none was timed. */
const struct tk_tuning_candidate *tk_tuning_space_find_best(const struct tk_tuning_space *s,
        const struct tk_tuning_parameter *a, double a_value, const struct tk_tuning_parameter *b,
        double b_value);

#endif
