#ifndef TK_SITE_RECORDS_H
#define TK_SITE_RECORDS_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct tk_error;
struct tk_model;
struct tk_site_series;

/* Levels of the memory, farthest first. */
enum { TK_PROFILED_DRAM, TK_PROFILED_L2, TK_PROFILED_L1, TK_PROFILED_LEVELS };
extern const char *const tk_profiled_level_names[TK_PROFILED_LEVELS];

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

#endif
