/* tracker.yml -> struct tk_config, which is not changed afterwards. keys.c has a row for each key;
 * docs/reference/configuration.md is made from the same rows.
 *
 * Errors are "file:line:column: what is wrong; what was expected", with TK_ECONFIG. */
#ifndef TK_CONFIG_H
#define TK_CONFIG_H
#include "base/base.h"
#include "base/sandbox.h"
#include "core/vocabulary.h"

/* Where kernels come from, and the adapter that turns a revision into backends. */
struct tk_upstream_config {
	char *name; /* [A-Za-z0-9._-]+, unique */
	enum tk_upstream_kind kind;
	char *url;         /* git: anything that git clones from */
	char *branch;      /* NULL: the remote's HEAD */
	char *path;        /* only commits that touch this path count; NULL: all */
	char *package;     /* package: its name; NULL: the upstream's name */
	char *index;       /* package: base URL of the index; NULL: PyPI */
	char *extra_index; /* package: another index; NULL: none */
	char *python;      /* package: program or version of the interpreter; NULL: python3 */
	bool pre;          /* package: pre-releases count */
	char *adapter;     /* a folder of kernels/adapters or of `adapter_path`; self, system: the
	                   * backend's name; NULL for builtin */
	char **backends;   /* to measure; NULL-terminated; empty: all of the adapter */
	char **configs;    /* configurations to measure, each a series; NULL-terminated */
	bool is_tuned;     /* measured with the stored winners of `tracker tune` */
	char *options;     /* "key=value,...": passed to the backend's open(); NULL: none */
	char *cmake_args;  /* passed to the adapter as TK_FLAGS; part of the artifact's key */
	char **submodules; /* as in tk_repo */
	bool enabled;
	bool network; /* of its builds, in the sandbox */
	bool trusted; /* the logs of its failed builds are stored and published */
	char **env;   /* names of variables that its builds get; NULL-terminated */
};

struct tk_budgets {
	double night_s;   /* wall time of a night; jobs that do not fit are skipped */
	double build_s;   /* one build */
	double job_s;     /* one job: load, verify, measure */
	double measure_s; /* sampling within a job */
	double fetch_s;   /* one git fetch */
	double bisect_s;  /* search for first bad commits; 0: none */
	double trace_s;   /* traces of regressions; 0: none */
	double tune_s;    /* search again for stale configurations; 0: none */
	double confirm_s; /* A/B runs of suspected changes; 0: none */
	uint64_t build_memory_bytes, job_memory_bytes; /* address space of one process */
	uint64_t build_disk_bytes;                     /* of all that one build can write to */
	uint64_t cache_bytes; /* cached builds; the last good one of each upstream is always kept */
};

struct tk_measure_config {
	double relative_half_width; /* target of the median's confidence interval */
	double confidence;
	uint32_t min_samples, max_samples;
	uint32_t threads; /* of a CPU backend; 0: all cores */
	bool pin;         /* threads to cores */
	double recheck;   /* share of the jobs that a new process measures again; 0: none */
	double referee;   /* share of the jobs that a referee judges beside those that need it */
	bool launch_cost, energy, memory, compile_time; /* metrics that are recorded beside time */
	char **modes; /* "KIND:MODE", NULL-terminated; read with tk_config_list_modes() */
};

struct tk_threshold_config {
	double min_effect;    /* 0.02 = 2 %: smaller changes are never reported; NAN: auto */
	double min_effect_ns; /* changes by less time than this are never reported */
	double fdr;           /* false-discovery rate over the series of a night */
	uint32_t window;      /* nights before the range that make the baseline */
	uint32_t stale_days;  /* age of the newest point */
	uint32_t missing_data_nights; /* nights without data that open an alert; 0: never */
	char *baseline; /* of `tracker diff`: window, first, best, pinned:REV, tag:NAME */
};

struct tk_control_config {
	char *upstream, *backend, *problem;
	uint32_t every; /* jobs between two controls; 0: no control */
};

struct tk_signing_config {
	char *key;             /* absolute; NULL: nothing is signed */
	char *allowed_signers; /* absolute; NULL: signatures are not required */
};

struct tk_config {
	char *path; /* absolute; NULL: no file */
	char *root; /* folder that relative paths of the file start from */
	char *machine;
	char **devices; /* "all", "cpu", "cuda", "cuda:0", UUIDs; NULL-terminated */
	struct tk_upstream_config *upstreams;
	size_t upstream_count;
	enum tk_sandbox_mode sandbox;
	char **suites; /* "[KIND:]NAME", names (suites/NAME.yml) or paths; NULL-terminated */
	char **rotate; /* "SUITE:NIGHTS"; NULL-terminated */
	struct tk_budgets budgets;
	struct tk_measure_config measure;
	struct tk_threshold_config thresholds;
	struct tk_control_config control;
	char *db, *site_dir, *cache_dir; /* absolute */
	char *adapter_path;              /* absolute; NULL: none */
	char *acks_path;                 /* absolute; NULL: acks.yml in `root`, if it exists */
	char *site_title;
	double site_tie;  /* times that differ by less are a tie; 0.01 is 1 % */
	char *site_url;   /* where the pages are published; NULL: nowhere */
	char *commit_url; /* "https://github.com/o/r/commit/{rev}" of `self`; NULL: none */
	uint32_t keep_samples_days; /* raw samples; summaries are kept for ever */
	char **fail_on;             /* names of verdict statuses, for `nightly`; NULL-terminated */
	char *webhook_url;          /* NULL: none */
	struct tk_signing_config signing;
	char hash[TK_HASH_HEX_SIZE]; /* of the keys that decide what is measured, and how */
};

/* path NULL: tracker.yml in `root` if it exists, else the defaults. The upstream `builtin` (the
 * control and the ceilings) need not be listed. */
int tk_config_load(
        const char *root, const char *path, struct tk_config **out, struct tk_error *err);
/* As tk_config_load, of a text; `name` is what messages call it, `root` an absolute folder. */
int tk_config_load_text(const char *root, const char *name, const char *text, size_t len,
        struct tk_config **out, struct tk_error *err);
void tk_config_free(struct tk_config *c);

/* The modes of a device kind, in the order of the list: names, or "sequence:NAME" after the first.
 * Returns how many: at least one. The texts belong to the configuration. */
#define TK_CONFIG_MODES_MAX 32
size_t tk_config_list_modes(
        const struct tk_config *c, const char *device_kind, const char *out[TK_CONFIG_MODES_MAX]);

/* NULL: not configured. */
const struct tk_upstream_config *tk_config_find_upstream(
        const struct tk_config *c, const char *name);
/* The end of a message about an unknown upstream, as tk_suggest_hint() makes it of all upstreams
 * and of `more`, which may be NULL. Returns `out`. */
const char *tk_config_suggest_upstream(const struct tk_config *c, const char *name,
        const char *more, const char *otherwise, char out[TK_SUGGEST_HINT_SIZE]);

/* Whether `backends` of an upstream names it, or names none. */
bool tk_config_measures_backend(const struct tk_upstream_config *u, const char *backend);

/* Nights that measure a suite once; `own`: what its file says. */
uint32_t tk_config_rotate_nights(const struct tk_config *c, const char *suite, uint32_t own);

/* The name or path of an entry of `suites`. *kind: of its devices; TK_DEVICE_OTHER: of all. */
const char *tk_config_suite_name(const char *entry, enum tk_device_kind *kind);

/* Those that are one word; ends with NULL. */
extern const char *const tk_config_baselines[];
/* window, first, best, pinned:REV or tag:NAME */
bool tk_config_is_baseline(const char *text);

/* ---- documents made from the table of keys --------------------------------------------------- */

/* What the default depends on. */
struct tk_config_host_device {
	const char *kind, *arch; /* "cuda", "sm_90" */
};
/* A Python package that is installed, and that an adapter measures. */
struct tk_config_host_package {
	const char *name, *package, *version; /* "iree", "iree-base-compiler", "3.11.0" */
	bool is_compiler;
};
struct tk_config_host {
	const struct tk_config_host_device *devices; /* a row with kind NULL ends them */
	const char *const *backends; /* modules that load and have a device; NULL-terminated */
	/* The kinds of devices whose own kernels can be built from the repository around the
	 * configuration; otherwise those that came with the tracker are measured. */
	struct {
		bool cpu, cuda, hip;
	} builds_own;
	const struct tk_config_host_package *packages; /* a row with name NULL ends them; or NULL */
};

/* A commented tracker.yml with every default; it loads without a change. `host` NULL: a machine of
 * which nothing is known. A tracker without a file works with the same text. */
void tk_config_write_default_file(struct tk_buf *out, const struct tk_config_host *host);

/* docs/reference/configuration.md, in Markdown. */
void tk_config_write_reference(struct tk_buf *out);

/* ---- accepted changes ------------------------------------------------------------------------ */

/* acks.yml: accepted changes, in a file that is reviewed and committed like code; its format is in
 * docs/how-to/triage-alerts.md. */

/* Every entry selects series by at least one filter. */
struct tk_ack {
	char **filters;               /* "key:glob", NULL-terminated */
	char *rev;                    /* first digits of the first bad revision; NULL: any */
	enum tk_triage_action action; /* ACK, EXPECT or IGNORE */
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

#endif
