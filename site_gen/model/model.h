#ifndef TK_SITE_MODEL_H
#define TK_SITE_MODEL_H
#include "core/vocabulary.h"
#include "store/catalog/row_index.h"
#include "store/store.h"

struct tk_ceiling_row;
struct tk_environment_row;

#define TK_SITE_WINDOW_POINTS 64 /* newest points of a series, drawn without JavaScript */
#define TK_SITE_LISTED_POINTS 30 /* newest points in the table of its page */
#define TK_STYLES 12             /* colours of backends; each has its own shape */
#define TK_SITE_NIGHT_PAGES 100  /* newest nights with a page */

/* The last months of a series for drawings and comparisons. */
struct tk_sparkline_point {
	uint32_t as_of_s;
	float value, lo, hi; /* NAN: unknown */
};
struct tk_sparkline {
	size_t count;
	struct tk_sparkline_point at[TK_SITE_WINDOW_POINTS]; /* oldest first */
};

struct tk_site_machine {
	const struct tk_machine_row *row;
	char *file; /* a safe file name, without folder and suffix, like every `file` here */
	const struct tk_night_row *last_night; /* newest of kind nightly, else newest; NULL: none */
	const struct tk_night_row *analysed_night; /* newest that has verdicts; NULL: none */
	struct tk_rows verdicts, runs;             /* of analysed_night, of last_night */
};

struct tk_site_night {
	const struct tk_night_row *row;
	const struct tk_site_machine *machine;
	char *file;   /* NULL: has no page */
	bool is_turn; /* it measured a share of the rotated suites */
};

struct tk_site_device {
	const struct tk_device_row *row;
	const struct tk_site_machine *machine;
	char *file;
	char *name; /* machine/device */
	const char *
	        /* the mode in which its series are ranked: the default of its kind, if measured */
	        mode;
};

/* A change point, with the revisions on both sides; NULL: unknown. */
struct tk_site_change {
	const struct tk_site_series *series;
	int64_t as_of_s;
	double before, after;
	enum tk_cause cause;
	const struct tk_revision_row *good, *bad;
	bool is_of_commit; /* they differ: the commit may be the cause */
	bool is_worse;
};

struct tk_site_series {
	const struct tk_series_row *row;
	const struct tk_site_device *device;
	const struct tk_upstream_row *upstream;
	const struct tk_problem_row *problem;
	enum tk_metric metric; /* of its row */
	enum tk_unit unit;
	const char *file;
	const char *op_file; /* shared by the series of one op */
	const char *label;   /* backend, with upstream, config, mode and metric where needed */
	const char *variant; /* the label without mode and metric: a contender of rankings */
	size_t style;        /* colour and shape of its variant, the same on every page */
	struct tk_point newest[2]; /* the newest points, oldest first */
	size_t newest_count;
	/* Filled while the data files are written. */
	struct tk_sparkline sparkline;
	struct tk_rows points; /* the listed ones, after the one before them; oldest first */
	const struct tk_verdict_row *verdict; /* of its machine's analysed_night; NULL: none */
	const struct tk_run_row *last_run;    /* of the last night; NULL: none */
	const struct tk_run_row
	        *failure;  /* its run of the last night, if it has no timing; NULL: none */
	bool is_unplanned; /* called missing, but the last night did not plan to measure it */
	const struct tk_site_change *changes; /* oldest first */
	size_t change_count;
};

/* How pages show a revision; thousands of rows name the same ones. */
struct tk_revision_view {
	const char *file;  /* NULL: it has no page */
	char *name, *href; /* NULL: not made yet; href "": none */
};

struct tk_model {
	struct tk_store *store;
	struct tk_rows machine_rows, device_rows, upstream_rows, revision_rows, build_rows,
	        problem_rows, series_rows, night_rows, series_texts, revision_texts;
	struct tk_row_index upstreams_by_id, revisions_by_id, builds_by_id, problems_by_id,
	        series_by_id, nights_by_id;
	struct tk_site_machine *machines;
	struct tk_site_device *devices;
	struct tk_site_night *nights;            /* by their start, newest first */
	struct tk_site_series *series;           /* by op, problem, device, label */
	struct tk_site_change *changes;          /* by series, then time */
	struct tk_revision_view *revision_views; /* of revision_rows[i] */
	struct tk_rows ceilings; /* of each device the newest of each name and source */
	size_t machine_count, device_count, night_count, series_count, change_count;
	char **texts; /* names of files and of series */
	size_t text_count, text_room;
};

int tk_model_load(struct tk_store *store, struct tk_model *m, struct tk_error *err);
void tk_model_free(struct tk_model *m);

/* By the id of its row; NULL: unknown. */
const struct tk_site_device *tk_model_find_device(const struct tk_model *m, int64_t id);
const struct tk_site_series *tk_model_find_series(const struct tk_model *m, int64_t id);
const struct tk_site_night *tk_model_find_night(const struct tk_model *m, int64_t id);
/* Devices in the order of pages: GPUs first. Returns the i-th. */
const struct tk_site_device *tk_model_ordered_device(const struct tk_model *m, size_t i);
/* Once, after the tables of pages are made. */
int tk_model_read_revision_files(struct tk_model *m, struct tk_error *err);
/* NULL: no revision. */
const struct tk_revision_view *tk_model_view_revision(
        const struct tk_model *m, const struct tk_revision_row *r);
/* The file of the page of a revision; NULL: it has none. */
const char *tk_model_find_revision_file(const struct tk_model *m, const struct tk_revision_row *r);
/* The revision of a build; NULL: unknown. */
const struct tk_revision_row *tk_model_find_build_revision(
        const struct tk_model *m, int64_t build_id);
int64_t tk_model_find_build_revision_id(
        const struct tk_model *m, int64_t build_id); /* 0: unknown */
const struct tk_point *tk_series_last_point(
        const struct tk_site_series *s); /* NULL: never measured */
/* The newest median of a time; NAN: no series, no time, or the last night failed. */
double tk_series_newest_value(const struct tk_site_series *s);
/* Rate of a time: FLOPs, or bytes where the problem has none, per second, in *unit; NAN if there is
 * no such rate. */
double tk_series_rate(const struct tk_site_series *s, double value, const char **unit);
bool tk_series_is_unsupported(
        const struct tk_site_series *s); /* in the last night; not a failure */
bool tk_series_is_skipped(
        const struct tk_site_series *s); /* in the last night: the budget was spent */
/* The series has a point, or a failure that counts as one. Otherwise its backend does not support
 * the problem. */
bool tk_series_has_result(const struct tk_site_series *s);
/* The verdict as the pages show it: TK_VERDICT_STATUS_COUNT where there is none, or where the night
 * did not plan to measure the series. */
enum tk_verdict_status tk_series_status(const struct tk_site_series *s);
/* Nights since its newest point, of a series that waits for its turn in the rotation of its suite;
 * 0: it does not wait. */
uint32_t tk_series_count_waiting_nights(const struct tk_model *m, const struct tk_site_series *s);
/* "regressed"; "skipped" or "not planned" for a series that is missing for that reason; "": no
 * verdict. */
const char *tk_series_status_word(const struct tk_site_series *s);
/* The verdict compares two values; otherwise there is no change to show. */
bool tk_series_has_change(const struct tk_site_series *s);
bool tk_series_is_suite_time(const struct tk_site_series *s);
/* A ranked series is a time of a suite in the mode of its device; controls, ceilings and other
 * modes are not ranked. */
bool tk_series_is_ranked(const struct tk_site_series *s);
/* Both have one role, metric and unit, and the same mode or each the default mode of its device. */
bool tk_series_are_comparable(const struct tk_site_series *a, const struct tk_site_series *b);
const char *tk_op_title(const char *op);    /* "GEMM" */
char *tk_op_place(const struct tk_arg *op); /* by which operations are sorted; for queries */

/* Ceilings of a device, and roofline efficiency (Williams, Waterman and Patterson 2009). */

#define TK_CEILING_SET_MAX 32
struct tk_ceiling_set {
	const struct tk_ceiling_row *rows[TK_CEILING_SET_MAX];
	size_t count;
};

/* The newest ceiling of each name and source. */
void tk_ceiling_set_load(
        const struct tk_model *m, const struct tk_site_device *device, struct tk_ceiling_set *out);
/* Leaves the rates and bandwidths, which a roofline shows; a time is none. */
void tk_ceiling_set_drop_times(struct tk_ceiling_set *ceilings);
/* GFLOP/s that the device allows at `intensity` FLOP per byte for a type: the lower of its matrix
 * rate and bandwidth x intensity, measured where there is a measurement, else from the datasheet. A
 * type without a rate of its own gets the highest rate there is. NAN: no ceiling known. */
double tk_ceiling_set_attainable(
        const struct tk_ceiling_set *ceilings, const char *dtype, double intensity);
/* Roofline efficiency of a time of a series: 0.62 for 62 %; NAN: unknown. */
double tk_ceiling_set_efficiency(
        const struct tk_ceiling_set *ceilings, const struct tk_site_series *s, double time_ns);
/* The same from one source alone: of the datasheet it is the share of the peak. NAN: unknown. */
double tk_ceiling_set_efficiency_by_source(const struct tk_ceiling_set *ceilings,
        enum tk_ceiling_source source, const struct tk_site_series *s, double time_ns);
/* The highest GFLOP/s of a type that the datasheet names; NAN: unknown. */
double tk_ceiling_set_peak(const struct tk_ceiling_set *ceilings, const char *dtype);
/* What that limit is: "memory", the type, "none", or "fastest type" where the type has no rate of
 * its own. */
const char *tk_ceiling_set_limiting(
        const struct tk_ceiling_set *ceilings, const char *dtype, double intensity);
/* A ceiling of a cache or of memory on the chip ("l2 read"): drawn, but no limit of compulsory
 * traffic. */
bool tk_ceiling_is_cache(const struct tk_ceiling_row *c);

/* Levels of the memory of which `tracker profile` counts bytes, farthest first. */
enum { TK_PROFILED_DRAM, TK_PROFILED_L2, TK_PROFILED_L1, TK_PROFILED_LEVELS };

/* Addresses of commits, and differences between environments. */

#define TK_LINK_SIZE 512

/* The page of a commit on the forge that a git URL names; "" if the forge is unknown or the URL has
 * unusual characters. Never has a user or password, always begins with https:// or http://. Returns
 * out. */
const char *tk_link_commit(const char *url, const char *rev, char out[TK_LINK_SIZE]);
const char *tk_link_range(
        const char *url, const char *good, const char *bad, char out[TK_LINK_SIZE]);
/* The URL without user and password, for display. */
const char *tk_link_strip_user(const char *url, char out[TK_LINK_SIZE]);
/* 12 digits of a hash; other revisions up to 24 bytes. */
const char *tk_rev_abbreviate(const char *rev, char out[TK_LINK_SIZE]);

/* A JSON object with the members of inner objects as its own, so that "attributes":{"kernel":...}
 * reads as "kernel". A name that is already used gets its parent's name as a prefix. The caller
 * frees it; NULL: not an object. */
struct json_t *tk_attributes_flatten(const char *json);
/* "driver 550.54 → 560.28, governor powersave → performance"; at most six. */
void tk_environment_add_diff(struct tk_buf *out, const char *before, const char *after);

#endif
