/* Bytes as the making of two small histories, which share some facts and describe others
 * differently: a+b = b+a, (a+b)+a = a+b, a+a = a. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "fuzz.h"
#include "sqlite_pool.h"
#include "store/export/record.h"

#define MUST(call) \
	do { \
		if (call) { \
			fprintf(stderr, "%s: %s\n", #call, err.message); \
			abort(); \
		} \
	} while (0)

/* Opened once, and empty at the beginning of every input: all rows of an input are in transactions
 * that are rolled back. */
static struct histories {
	struct tk_store *a, *b, *c, *inner, *merged;
} h;

static void clean_up(void)
{
	struct tk_store *const all[] = {h.a, h.b, h.c, h.inner, h.merged};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		tk_store_close(all[i]);
}

static void set_up(void)
{
	struct tk_error err = {0};
	struct tk_store **const all[] = {&h.a, &h.b, &h.c, &h.inner, &h.merged};

	tk_fuzz_pool_sqlite();
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		MUST(tk_db_open_temporary(all[i], &err));
	/* Temporary tables that a merge makes and keeps. */
	MUST(tk_store_merge(h.inner, h.a, NULL, &err));
	MUST(tk_store_merge(h.merged, h.a, NULL, &err));
	atexit(clean_up);
}

/* ---- rows from bytes ------------------------------------------------------------------------- */

struct input {
	const uint8_t *data;
	size_t size, at;
};

static unsigned pick(struct input *in, unsigned n)
{
	return in->at < in->size ? in->data[in->at++] % n : 0;
}

static const char *word(struct input *in)
{
	static const char *const words[] = {"", "a", "b", "A", "aa", "a-b", "\xff",
	        "one rather long word that is cut somewhere in the middle of it, or so it is "
	        "hoped by those who wrote this test of what is too long for a slug"};

	return words[pick(in, sizeof words / sizeof words[0])];
}

static void put_night(struct tk_store *s, struct input *in, int64_t machine, int64_t device,
        int64_t series, int64_t build, int64_t upstream, int64_t revision)
{
	struct tk_error err = {0};
	struct tk_night_row night = {.machine_id = machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = pick(in, 3),
	        .started_s = 1000 * pick(in, 3),
	        .finished_s = pick(in, 3),
	        .status = (enum tk_night_status)pick(in, 4),
	        .seed = 1,
	        .config_hash = word(in),
	        .tracker_version = "1",
	        .summary = word(in)};
	struct tk_run_row run = {.seq = pick(in, 2),
	        .series_id = series,
	        .build_id = build,
	        .as_of_s = night.as_of_s,
	        .started_s = night.started_s,
	        .wall_s = pick(in, 4),
	        .outcome = pick(in, 2) ? TK_OUTCOME_OK : TK_OUTCOME_WRONG,
	        .message = word(in),
	        .attributes = "{}"};
	struct tk_point point = {
	        .series_id = series, .value = 1 + pick(in, 4), .lo = 1, .hi = 9, .n = pick(in, 3)};
	double sample = 1.5;
	const double *const samples[] = {&sample};
	const size_t counts[] = {pick(in, 2)};

	MUST(tk_store_begin_night(s, &night, &run.night_id, &err));
	struct tk_job_row job = {.night_id = run.night_id,
	        .seq = run.seq,
	        .series_id = series,
	        .build_id = build,
	        .backend_path = word(in),
	        .options = ""};
	struct tk_stage_row stage = {run.night_id, "resolve",
	        pick(in, 2) ? TK_STAGE_DONE : TK_STAGE_RUNNING, 1, pick(in, 2), word(in)};
	struct tk_resolution_row answer = {run.night_id, upstream, pick(in, 2) ? revision : 0,
	        pick(in, 2) ? build : 0, TK_RESOLUTION_NEW, word(in)};

	MUST(tk_store_put(s, TK_TABLE_stage, &stage, NULL, &err));
	MUST(tk_store_put(s, TK_TABLE_resolution, &answer, NULL, &err));
	if (pick(in, 2))
		MUST(tk_store_put_jobs(s, &job, 1, &err));
	if (pick(in, 4))
		MUST(tk_store_put_run(s, &run, &point, samples, counts, 1, NULL, &err));
}

static int64_t newest_night(struct tk_store *s)
{
	struct tk_error err = {0};
	struct tk_rows nights;

	MUST(tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, &err));
	int64_t id = nights.count ? TK_ROWS_AT(&nights, struct tk_night_row, 0)->id : 0;

	tk_rows_free(&nights);
	return id;
}

/* Of a series, or of a machine as a whole; its uid follows from the series and the revision, as it
 * does in a night. */
static void put_alert(
        struct tk_store *s, struct input *in, int64_t machine, int64_t upstream, int64_t series)
{
	struct tk_error err = {0};
	bool whole = pick(in, 2);
	struct tk_alert_row alert = {.kind = (enum tk_alert_kind)pick(in, 3),
	        .group_uid = word(in),
	        .machine_id = machine,
	        .upstream_id = whole ? 0 : upstream,
	        .series_id = whole ? 0 : series,
	        .night_id = newest_night(s),
	        .status = pick(in, 2) ? TK_ALERT_OPEN : TK_ALERT_CLOSED,
	        .opened_s = pick(in, 3),
	        .closed_s = pick(in, 3),
	        .change = pick(in, 3),
	        .cause = (enum tk_cause)pick(in, 4),
	        .good_rev = "",
	        .bad_rev = word(in),
	        .title = word(in)};

	MUST(tk_store_put(s, TK_TABLE_alert, &alert, NULL, &err));
}

/* What is said of the builds and the series. */
static void put_evidence(
        struct tk_store *s, struct input *in, int64_t device, int64_t series, int64_t build)
{
	struct tk_error err = {0};
	int64_t night = newest_night(s), ignored;
	const struct tk_environment_row environment = {.device_id = device, .attributes = word(in)};
	const struct tk_kernel_row kernel = {.build_id = build,
	        .backend = word(in),
	        .name = word(in),
	        .code_hash = word(in),
	        .size_bytes = pick(in, 3),
	        .registers = (int64_t)pick(in, 3) - 1};
	const struct tk_ceiling_row ceiling = {
	        night, device, word(in), TK_CEILING_MEASURED, "gflop_per_s", pick(in, 4)};
	const struct tk_ab_pair_row pair = {.night_id = night,
	        .series_id = series,
	        .base_build_id = build,
	        .head_build_id = build,
	        .pair = pick(in, 3),
	        .started_s = pick(in, 3),
	        .first = pick(in, 2) ? "base" : "head",
	        .base_outcome = "ok",
	        .head_outcome = pick(in, 2) ? "ok" : "crash",
	        .message = word(in),
	        .base_median = 1 + pick(in, 3),
	        .head_median = 1 + pick(in, 3)};
	const struct tk_bisection_row bisection = {.series_id = series,
	        .night_id = night,
	        .good_rev = word(in),
	        .bad_rev = word(in),
	        .outcome = pick(in, 2) ? TK_BISECT_FOUND : TK_BISECT_INCONCLUSIVE,
	        .first_bad_rev = word(in),
	        .last_good_rev = word(in),
	        .subject = word(in),
	        .author = word(in),
	        .confidence = pick(in, 3),
	        .pair_count = pick(in, 3),
	        .finished_s = pick(in, 3)};

	MUST(tk_store_put(s, TK_TABLE_environment, &environment, &ignored, &err));
	MUST(tk_store_put(s, TK_TABLE_kernel, &kernel, &ignored, &err));
	MUST(tk_store_put(s, TK_TABLE_ceiling, &ceiling, NULL, &err));
	MUST(tk_store_put(s, TK_TABLE_ab_pair, &pair, &ignored, &err));
	MUST(tk_store_put(s, TK_TABLE_bisection, &bisection, NULL, &err));
}

static void put_rows(struct tk_store *s, struct input *in)
{
	struct tk_error err = {0};
	struct tk_machine_row machine = {.name = word(in), .attributes = word(in)};
	struct tk_device_row device = {.kind = "cpu",
	        .name = word(in),
	        .uuid = word(in),
	        .arch = word(in),
	        .slug = word(in)};
	struct tk_upstream_row upstream = {.name = word(in), .kind = "git", .url = word(in)};
	struct tk_revision_row revision = {
	        .rev = word(in), .position = pick(in, 4), .subject = word(in)};
	struct tk_build_row build = {.artifact_key = word(in),
	        .adapter = "x",
	        .status = pick(in, 2) ? TK_BUILD_OK : TK_BUILD_FAILED,
	        .log = word(in)};
	struct tk_problem_row problem = {.text = word(in),
	        .op = "gemm",
	        .dtype = "f32",
	        .title = word(in),
	        .flops = pick(in, 3)};
	struct tk_series_row series = {.backend = word(in),
	        .config = "",
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	struct tk_triage_row triage = {.alert_uid = word(in),
	        .at_s = pick(in, 3),
	        .author = word(in),
	        .action = TK_ACTION_ACK};
	int64_t revision_id, build_id, series_id, ignored;

	MUST(tk_store_put(s, TK_TABLE_machine, &machine, &device.machine_id, &err));
	MUST(tk_store_put(s, TK_TABLE_device, &device, &series.device_id, &err));
	MUST(tk_store_put(s, TK_TABLE_upstream, &upstream, &series.upstream_id, &err));
	revision.upstream_id = series.upstream_id;
	MUST(tk_store_put(s, TK_TABLE_revision, &revision, &revision_id, &err));
	build.revision_id = revision_id;
	MUST(tk_store_put(s, TK_TABLE_build, &build, &build_id, &err));
	MUST(tk_store_put(s, TK_TABLE_problem, &problem, &series.problem_id, &err));
	MUST(tk_store_put(s, TK_TABLE_series, &series, &series_id, &err));
	MUST(tk_store_put(s, TK_TABLE_triage, &triage, &ignored, &err));
	put_night(s, in, device.machine_id, series.device_id, series_id, build_id,
	        series.upstream_id, revision_id);
	if (pick(in, 2))
		put_alert(s, in, device.machine_id, series.upstream_id, series_id);
	if (pick(in, 2))
		put_evidence(s, in, series.device_id, series_id, build_id);
}

/* ---- what must hold -------------------------------------------------------------------------- */

static char *dump_as_json(struct tk_store *s)
{
	static int fd = -1;
	struct tk_error err = {0};
	off_t size;
	char *text;

	if (fd < 0 && (fd = memfd_create("dump", MFD_CLOEXEC)) < 0)
		abort();
	lseek(fd, 0, SEEK_SET);
	MUST(tk_store_export(s, fd, &err));
	size = lseek(fd, 0, SEEK_CUR);
	text = calloc(1, (size_t)size + 1);
	if (!text || pread(fd, text, (size_t)size, 0) != size)
		abort();
	return text;
}

static void dump_table(struct tk_store *s, enum tk_table_id table, struct tk_buf *out)
{
	struct tk_error err = {0};
	sqlite3_stmt *stmt;

	MUST(tk_export_prepare_table(s, table, &stmt, &err));
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		tk_buf_add_str(out, tk_tables[table].name);
		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			bool is_blob = sqlite3_column_type(stmt, i) == SQLITE_BLOB;
			const char *value =
			        is_blob ? "blob" : (const char *)sqlite3_column_text(stmt, i);

			tk_buf_add_char(out, '\t');
			tk_buf_add_str(out, value ? value : "null");
		}
		tk_buf_add_char(out, '\n');
	}
	sqlite3_reset(stmt);
}

/* as_json: as `tracker db export` writes it, which takes several times as long. */
static bool as_json;

static char *dump(struct tk_store *s)
{
	struct tk_buf out = TK_BUF_INIT;

	if (as_json)
		return dump_as_json(s);
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		dump_table(s, (enum tk_table_id)t, &out);
	if (tk_buf_status(&out, NULL))
		abort();
	tk_buf_add_char(&out, '\n');
	return tk_buf_detach(&out, NULL);
}

static char *merged(struct tk_store *const *from, size_t count)
{
	struct tk_error err = {0};
	char *text;

	MUST(tk_store_begin(h.merged, &err));
	for (size_t i = 0; i < count; i++)
		MUST(tk_store_merge(h.merged, from[i], NULL, &err));
	text = dump(h.merged);
	tk_store_rollback(h.merged);
	return text;
}

/* a + (b + c): the second of the two is itself a merge. */
static char *merged_right(struct tk_store *a, struct tk_store *b, struct tk_store *c)
{
	struct tk_error err = {0};
	char *text;

	MUST(tk_store_begin(h.inner, &err));
	MUST(tk_store_merge(h.inner, b, NULL, &err));
	MUST(tk_store_merge(h.inner, c, NULL, &err));
	text = merged((struct tk_store *[]){a, h.inner}, 2);
	tk_store_rollback(h.inner);
	return text;
}

static void must_be_equal(char *a, char *b, const char *what)
{
	if (strcmp(a, b)) {
		fprintf(stderr, "%s:\n%s\n%s\n", what, a, b);
		abort();
	}
	free(a);
	free(b);
}

/* One law an input, chosen by its last byte, is five times as many inputs; some are held against
 * all. */
static void check(struct tk_store *a, struct tk_store *b, struct tk_store *c, unsigned law)
{
	if (law == 0 || law > 4)
		must_be_equal(merged((struct tk_store *[]){a, b}, 2),
		        merged((struct tk_store *[]){b, a}, 2), "a+b = b+a");
	if (law == 1 || law > 4)
		must_be_equal(merged((struct tk_store *[]){a, b, a}, 3),
		        merged((struct tk_store *[]){b, a}, 2), "(a+b)+a = a+b");
	if (law == 2 || law > 4)
		must_be_equal(merged((struct tk_store *[]){a, a}, 2), dump(a), "a+a = a");
	if (law == 3 || law > 4)
		must_be_equal(merged((struct tk_store *[]){a, b, c}, 3), merged_right(a, b, c),
		        "(a+b)+c = a+(b+c)");
	if (law == 4 || law > 4)
		must_be_equal(merged((struct tk_store *[]){c, a, b}, 3),
		        merged((struct tk_store *[]){b, c, a}, 3), "c+a+b = b+c+a");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size, 0};
	struct tk_error err = {0};
	unsigned law = size ? data[size - 1] % 64 : 0;

	if (!h.a)
		set_up();
	MUST(tk_store_begin(h.a, &err));
	MUST(tk_store_begin(h.b, &err));
	MUST(tk_store_begin(h.c, &err));
	for (int i = 0; i < 6 && in.at < size; i++)
		put_rows((struct tk_store *[]){h.a, h.b, h.c}[pick(&in, 3)], &in);
	as_json = law == 63;
	check(h.a, h.b, h.c, law < 63 ? law % 5 : 5);
	tk_store_rollback(h.a);
	tk_store_rollback(h.b);
	tk_store_rollback(h.c);
	return 0;
}
