/* Every key of tracker.yml, once: the schema for libcyaml, the reading of the values and the test
 * of the documentation are made from these lists. Columns: key, kind, field of the struct that it
 * fills, least and greatest value (numbers only).
 *
 * A section is a mapping at the top level. Lists (devices, suites, backends, modes, fail_on) and
 * the list of upstreams are in config_schema.c. */
#ifndef TK_CONFIG_KEYS_H
#define TK_CONFIG_KEYS_H
#include "config/config.h"
#include <stddef.h>

enum tk_value_kind {
	TK_VALUE_TEXT,        /* printable text */
	TK_VALUE_NAME,        /* [A-Za-z0-9._-]+ */
	TK_VALUE_LOCATION,    /* a path, relative to the file's folder, or ~/ */
	TK_VALUE_REPOSITORY,  /* a URL, or a path as above */
	TK_VALUE_WEB,         /* http:// or https:// */
	TK_VALUE_PROBLEM,     /* canonicalised */
	TK_VALUE_KIND,        /* enum tk_upstream_kind */
	TK_VALUE_DURATION,    /* double, seconds */
	TK_VALUE_DURATION_NS, /* double, nanoseconds */
	TK_VALUE_DAYS,        /* uint32_t */
	TK_VALUE_SIZE,        /* uint64_t */
	TK_VALUE_FRACTION,    /* double */
	TK_VALUE_COUNT,       /* uint32_t */
	TK_VALUE_BOOL,
};

#define TK_MINUTE 60
#define TK_HOUR 3600
#define TK_DAY 86400
#define TK_MIB 0x1p20
#define TK_PIB 0x1p50

#define TK_TOP_KEYS(X) X(machine, TEXT, machine, 0, 0)

#define TK_UPSTREAM_KEYS(X) \
	X(name, NAME, name, 0, 0) \
	X(kind, KIND, kind, 0, 0) \
	X(url, REPOSITORY, url, 0, 0) \
	X(branch, TEXT, branch, 0, 0) \
	X(path, TEXT, path, 0, 0) \
	X(adapter, NAME, adapter, 0, 0) \
	X(options, TEXT, options, 0, 0) \
	X(cmake_args, TEXT, cmake_args, 0, 0) \
	X(submodules, BOOL, submodules, 0, 0) \
	X(enabled, BOOL, enabled, 0, 0)

#define TK_BUDGET_KEYS(X) \
	X(night, DURATION, budgets.night_s, 1, 7 * TK_DAY) \
	X(build, DURATION, budgets.build_s, 1, TK_DAY) \
	X(job, DURATION, budgets.job_s, 0.1, TK_DAY) \
	X(measure, DURATION, budgets.measure_s, 0.001, TK_HOUR) \
	X(fetch, DURATION, budgets.fetch_s, 1, TK_DAY) \
	X(bisect, DURATION, budgets.bisect_s, 0, 7 * TK_DAY) \
	X(confirm, DURATION, budgets.confirm_s, 0, TK_DAY) \
	X(build_memory, SIZE, budgets.build_memory_bytes, 64 * TK_MIB, TK_PIB) \
	X(job_memory, SIZE, budgets.job_memory_bytes, 64 * TK_MIB, TK_PIB) \
	X(cache, SIZE, budgets.cache_bytes, TK_MIB, TK_PIB)

#define TK_MEASURE_KEYS(X) \
	X(precision, FRACTION, measure.relative_half_width, 0.0001, 0.5) \
	X(confidence, FRACTION, measure.confidence, 0.5, 0.9999) \
	X(min_samples, COUNT, measure.min_samples, 1, 100000) \
	X(max_samples, COUNT, measure.max_samples, 1, 1000000) \
	X(threads, COUNT, measure.threads, 0, 4096) \
	X(pin, BOOL, measure.pin, 0, 0) \
	X(launch_cost, BOOL, measure.launch_cost, 0, 0) \
	X(energy, BOOL, measure.energy, 0, 0) \
	X(memory, BOOL, measure.memory, 0, 0)

#define TK_THRESHOLD_KEYS(X) \
	X(min_effect, FRACTION, thresholds.min_effect, 0, 1) \
	X(min_effect_time, DURATION_NS, thresholds.min_effect_ns, 0, 1e9) \
	X(false_discovery_rate, FRACTION, thresholds.fdr, 0.0001, 0.5) \
	X(window, COUNT, thresholds.window, 1, 1000) \
	X(stale, DAYS, thresholds.stale_days, 1, 3650) \
	X(stoppage, COUNT, thresholds.stoppage_nights, 0, 1000) \
	X(baseline, TEXT, thresholds.baseline, 0, 0)

#define TK_CONTROL_KEYS(X) \
	X(upstream, NAME, control.upstream, 0, 0) \
	X(backend, NAME, control.backend, 0, 0) \
	X(problem, PROBLEM, control.problem, 0, 0) \
	X(every, COUNT, control.every, 0, 100000)

#define TK_SITE_KEYS(X) \
	X(title, TEXT, site_title, 0, 0) \
	X(url, WEB, site_url, 0, 0) \
	X(commit_url, WEB, commit_url, 0, 0)

#define TK_PATH_KEYS(X) \
	X(db, LOCATION, db, 0, 0) \
	X(site, LOCATION, site_dir, 0, 0) \
	X(cache, LOCATION, cache_dir, 0, 0) \
	X(adapters, LOCATION, adapter_path, 0, 0) \
	X(acks, LOCATION, acks_path, 0, 0)

#define TK_RETENTION_KEYS(X) X(samples, DAYS, keep_samples_days, 1, 36500)

#define TK_NOTIFY_KEYS(X) X(webhook, WEB, webhook_url, 0, 0)

/* key of the section, list of its keys */
#define TK_SECTIONS(X) \
	X(budgets, TK_BUDGET_KEYS) \
	X(measure, TK_MEASURE_KEYS) \
	X(thresholds, TK_THRESHOLD_KEYS) \
	X(control, TK_CONTROL_KEYS) \
	X(site, TK_SITE_KEYS) \
	X(paths, TK_PATH_KEYS) \
	X(retention, TK_RETENTION_KEYS) \
	X(notify, TK_NOTIFY_KEYS)

/* One row of a list, as data. */
struct tk_config_key {
	const char *name;
	enum tk_value_kind kind;
	size_t offset; /* in struct tk_config, or in struct tk_upstream_config */
	double min, max;
};

/* What libcyaml fills: every value as its text, NULL where the file does not say. The scalars come
 * first and in the order of the list, so that row i of a list is pointer i of its struct. */
#define TK_RAW_MEMBER(key, kind, field, min, max) char *key;
struct tk_raw_budgets {
	TK_BUDGET_KEYS(TK_RAW_MEMBER)
};
struct tk_raw_measure {
	TK_MEASURE_KEYS(TK_RAW_MEMBER)
	char **modes;
	unsigned modes_count;
};
struct tk_raw_thresholds {
	TK_THRESHOLD_KEYS(TK_RAW_MEMBER)
};
struct tk_raw_control {
	TK_CONTROL_KEYS(TK_RAW_MEMBER)
};
struct tk_raw_site {
	TK_SITE_KEYS(TK_RAW_MEMBER)
};
struct tk_raw_paths {
	TK_PATH_KEYS(TK_RAW_MEMBER)
};
struct tk_raw_retention {
	TK_RETENTION_KEYS(TK_RAW_MEMBER)
};
struct tk_raw_notify {
	TK_NOTIFY_KEYS(TK_RAW_MEMBER)
	char **fail_on;
	unsigned fail_on_count;
};
struct tk_raw_upstream {
	TK_UPSTREAM_KEYS(TK_RAW_MEMBER)
	char **backends;
	unsigned backends_count;
};

struct tk_raw {
	TK_TOP_KEYS(TK_RAW_MEMBER)
#define TK_RAW_SECTION(section, keys) struct tk_raw_##section *section;
	TK_SECTIONS(TK_RAW_SECTION)
#undef TK_RAW_SECTION
	char **devices, **suites;
	unsigned devices_count, suites_count;
	struct tk_raw_upstream *upstreams;
	unsigned upstreams_count;
};

struct tk_error;
struct tk_yaml;

/* The document against the schema (unknown keys, lists for values, ...), then libcyaml's reading of
 * it. */
int tk_raw_load(const struct tk_yaml *y, const char *text, size_t len, struct tk_raw **out,
        struct tk_error *err);
void tk_raw_free(struct tk_raw *raw);
/* Calls back with every key of the schema: "budgets.night", "upstreams.name". */
void tk_raw_each_key(void (*fn)(const char *path, void *arg), void *arg);

/* The rows of a list as data; NULL name at the end. */
extern const struct tk_config_key tk_config_top_keys[], tk_config_upstream_keys[];
struct tk_config_section {
	const char *name;
	const struct tk_config_key *keys;
	size_t raw_offset; /* of the pointer in struct tk_raw */
};
extern const struct tk_config_section tk_config_sections[];

/* Reads `node` (text `text`) as row `key` into `base` + its offset. `what` names it in messages:
 * "budgets.night". */
int tk_config_read_value(const struct tk_yaml *y, int node, const char *what,
        const struct tk_config_key *key, const char *root, const char *text, void *base,
        struct tk_error *err);
/* A path of the file as an absolute one: "~/x", "x" from root; NULL: out of memory. */
char *tk_config_resolve_path(const char *root, const char *text);

/* As tk_config_load, of a text; `name` is what messages call it, root an absolute folder. */
int tk_config_load_text(const char *root, const char *name, const char *text, size_t len,
        struct tk_config **out, struct tk_error *err);

/* What only shows when the whole configuration is known. `y`: the user's file, or the default text.
 */
int tk_config_check(struct tk_config *c, const struct tk_yaml *y, struct tk_error *err);
int tk_config_hash(struct tk_config *c, struct tk_error *err);

#endif
