/* tracker.yml and suites -> immutable structs. Every key is documented in docs/reference/configuration.md.
 *
 * Errors are "file:line:column: what is wrong, what was expected"; an unknown key names the nearest
 * known one. */
#ifndef TK_CONFIG_H
#define TK_CONFIG_H
#include "base/hash.h"
#include "core/mode.h"
#include <stdbool.h>
#include <stdint.h>

struct tk_error;

enum tk_upstream_kind {
	TK_UPSTREAM_SELF,
	TK_UPSTREAM_GIT,
	TK_UPSTREAM_SYSTEM,
	TK_UPSTREAM_BUILTIN
};

/* Where kernels come from, and the adapter that turns a revision into backends. */
struct tk_upstream_config {
	char *name; /* [A-Za-z0-9._-]+, unique */
	enum tk_upstream_kind kind;
	char *url,
	        *branch; /* git: any URL or path that git takes; branch NULL: the remote's HEAD */
	char *path;      /* git: only commits that touch this path count; NULL: all */
	char *adapter; /* NULL for builtin; a folder of kernels/adapters or of `adapter_path`; self,
	                  system: the backend's name */
	char **backends;  /* NULL-terminated: which backends of the product are measured; empty: all
	                     it makes */
	char *options;    /* given to the backend's open(), "key=value,..." */
	char *cmake_args; /* given to the adapter as TK_FLAGS; part of the artifact's key */
	bool submodules;
	bool enabled;
};

struct tk_budgets {
	double night_s;   /* wall time of a whole night; what does not fit is `skipped` */
	double build_s;   /* one build */
	double job_s;     /* deadline of one job: load, verify, measure */
	double measure_s; /* sampling time of one job */
	double fetch_s;   /* one git fetch */
	double bisect_s;  /* looking for the commits of what got worse; 0: not */
	double confirm_s; /* measuring suspects again, old build against new one; 0: not */
	uint64_t build_memory_bytes, job_memory_bytes;
	uint64_t cache_bytes; /* artifact cache; the last good artifact of each upstream stays */
};

struct tk_measure_config {
	double relative_half_width; /* target of the interval of the median */
	double confidence;
	uint32_t min_samples, max_samples;
	uint32_t threads; /* CPU threads of a backend; 0: all cores of the machine */
	bool pin;
	bool launch_cost; /* a series of the host's cost of a launch, beside each of times */
	bool energy;      /* one of the energy of an execution */
	bool memory;      /* one of the device memory of the job */
	char **modes;     /* "KIND:MODE", see problem/mode.h; NULL-terminated; tk_config_list_modes
	                     reads it */
};

struct tk_threshold_config {
	double min_effect;    /* 0.02 = 2 %: smaller changes are never reported */
	double min_effect_ns; /* and smaller than this neither */
	double fdr;           /* false-discovery rate over the series of a night */
	uint32_t window;      /* nights before the range that make the baseline */
	uint32_t stale_days;
	char *baseline;           /* of `tracker diff`: window, first, best, pinned:REV, tag:NAME */
	uint32_t stoppage_nights; /* nights without data that are said; 0: never */
};

struct tk_control_config {
	char *upstream, *backend, *problem;
	uint32_t every;
}; /* every: jobs between two controls; 0: never */

struct tk_config {
	char *path; /* absolute path of the file; NULL where the built-in default is used */
	char *root; /* folder that relative paths of the file start from */
	char *machine;
	char **devices; /* "all", "cpu", "cuda", "cuda:0", UUIDs; NULL-terminated */
	struct tk_upstream_config *upstreams;
	size_t upstream_count;
	char **suites; /* names (suites/NAME.yml) or paths; NULL-terminated */
	struct tk_budgets budgets;
	struct tk_measure_config measure;
	struct tk_threshold_config thresholds;
	struct tk_control_config control;
	char *db, *site_dir, *site_title, *cache_dir,
	        *adapter_path; /* absolute, except site_title */
	char *site_url;        /* where the pages are published; NULL: nowhere */
	char *acks_path;       /* what was accepted; NULL: acks.yml in `root`, where there is one */
	char *commit_url;      /* "https://github.com/o/r/commit/{rev}" for `self`; NULL: none */
	uint32_t keep_samples_days;  /* raw samples; summaries are kept for ever */
	char **fail_on;              /* status words, for `nightly`; NULL-terminated */
	char *webhook_url;           /* notify; NULL: none */
	char hash[TK_HASH_HEX_SIZE]; /* of what decides the measurements */
};

/* The modes that devices of a kind are measured in, in the order of the list, into
 * out[TK_MODE_COUNT]. Returns how many: at least one. */
size_t tk_config_list_modes(const struct tk_config *c, const char *device_kind, enum tk_mode *out);

bool tk_config_is_baseline(const char *text);

/* `builtin` (the control and the ceilings, made with the tracker) need not be listed among the
 * upstreams. path NULL: tracker.yml in `root`, and where there is none the built-in default. */
int tk_config_load(
        const char *root, const char *path, struct tk_config **out, struct tk_error *err);
void tk_config_free(struct tk_config *c);
const char *tk_config_default_text(
        void); /* the commented tracker.yml that `tracker init` writes; it loads without a change */

struct tk_suite_problem {
	char *text;   /* canonical, see problem/problem.h */
	char *source; /* where the problem comes from */
	char *group;  /* for pages: "llama-70b", "squares"; may be "" */
};

struct tk_suite {
	char *name, *title, *path;
	struct tk_suite_problem *problems;
	size_t count;
	char hash[TK_HASH_HEX_SIZE];
};

/* name: looked up as a path, then <root>/suites/NAME.yml, then the tracker's own suites/. *.json is
 * read in the shape of public benchmark runners:
 * {"gemm":[{"m":..}],"mha":[{"batch":..}],"nsa":[..]}. */
int tk_suite_load(const char *root, const char *name, struct tk_suite **out, struct tk_error *err);
void tk_suite_free(struct tk_suite *s);
/* Names and paths of the suites that can be found from root; freed with tk_names_free. */
int tk_suite_list_names(const char *root, char ***names, size_t *count, struct tk_error *err);

/* acks.yml: a list of what was accepted (docs/how-to/triage-alerts.md). Every ack selects series by at least one
 * filter. */
struct tk_ack {
	char **filters; /* "key:glob", NULL-terminated */
	char *rev;      /* first digits of the first bad revision; NULL: any */
	char *action;   /* ack, expect, ignore */
	char *by, *note;
	int64_t until_s; /* 0: for ever */
};

struct tk_acks {
	struct tk_ack *at;
	size_t count;
};

/* keys: what series can be selected by, NULL-terminated. */
int tk_acks_load(
        const char *path, const char *const *keys, struct tk_acks **out, struct tk_error *err);
int tk_acks_load_text(const char *name, const char *text, size_t len, const char *const *keys,
        struct tk_acks **out, struct tk_error *err);
void tk_acks_free(struct tk_acks *a);

/* Where the tracker's own suites, templates and adapters are: $TRACKER_DATADIR, or what CMake knew.
 * Static. */
const char *tk_data_dir(void);

#endif
