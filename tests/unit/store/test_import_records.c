/* Records of `tracker export`, read again: what is refused by name, what another machine name
 * changes, and that nothing gets lost on the way. */
#include "import_groups.h"
#include "import_rig.h"
#include "query_rig.h"

#include "../quoted_json.h"

/* Two runs, of which the first has samples, a failed one, a tuning and a kernel report. */
static void fill(struct history *h)
{
	int64_t id;

	history_fill(h);
	MUST(history_put_run(h, 1, 100, 3, &id, &err));
	MUST(history_put_run(h, 2, 200, 0, &id, &err));
	query_put_run(h, 3, (struct query_run){.outcome = TK_OUTCOME_WRONG});
	MUST(history_put_tuning(h, 500, &id, &err));
	MUST(history_put_kernel_report(h, 600, &id, &err));
}

/* The text of a history with all that fill() makes; made once. */
static const char *sample(void)
{
	static char text[65536];
	struct history h;

	if (*text)
		return text;
	history_new(&h);
	fill(&h);
	char *records = history_export_records(h.store, TK_RECORD_NDJSON);

	assert_true(strlen(records) < sizeof text);
	strcpy(text, records);
	free(records);
	history_free(&h);
	return text;
}

#define RECORDS IMPORT_AS("tracker", .at_s = 0)

static void records_bring_the_whole_history(void **state)
{
	struct history h;
	struct import_rig rig;

	(void)state;
	history_new(&h);
	fill(&h);
	import_rig_new(&rig);
	MUST(import_rig_read(&rig, RECORDS, sample(), &err));
	assert_int_equal(rig.counts.nights, 1);
	assert_int_equal(rig.counts.series, 1);
	assert_int_equal(rig.counts.points, 2);
	char *ours = history_export(h.store), *theirs = history_export(rig.history.store);

	assert_string_equal(theirs, ours);
	free(ours);
	free(theirs);
	/* Guessed, and a second time: nothing is new. */
	MUST(import_rig_read(&rig, IMPORT_AS(NULL, .at_s = 0), sample(), &err));
	assert_int_equal(rig.counts.nights + rig.counts.series + rig.counts.points, 0);
	import_rig_free(&rig);
	history_free(&h);
}

/* Another name of the machine: other uids and slugs, and checksums that do not fit are no error. */
static void records_of_a_machine_with_another_name(void **state)
{
	struct import_rig rig;
	struct tk_rows machines = {0}, series = {0}, problems = {0};

	(void)state;
	import_rig_new(&rig);
	MUST(import_rig_read(&rig, IMPORT_AS("tracker", .machine = "desk"), sample(), &err));
	assert_int_equal(rig.counts.points, 2);
	MUST(tk_store_list_machines(rig.history.store, &machines, &err));
	assert_int_equal(machines.count, 1);
	assert_string_equal(TK_ROWS_AT(&machines, struct tk_machine_row, 0)->name, "desk");
	MUST(tk_store_list_series(rig.history.store, &series, &err));
	assert_non_null(strstr(TK_ROWS_AT(&series, struct tk_series_row, 0)->slug, "desk."));
	MUST(tk_store_check(rig.history.store, &problems, &err));
	assert_int_equal(problems.count, 0);
	tk_rows_free(&machines);
	tk_rows_free(&series);
	tk_rows_free(&problems);
	import_rig_free(&rig);
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* Sets "group.field", or "field", of a record. value NULL: removes it. */
static void edit(json_t *record, const char *path, const char *value)
{
	const char *dot = strchr(path, '.');
	char group[64];

	snprintf(group, sizeof group, "%.*s", dot ? (int)(dot - path) : 0, path);
	json_t *object = dot ? json_object_get(record, group) : record;

	assert_true(json_is_object(object));
	if (value)
		json_object_set_new(object, dot ? dot + 1 : path, read_quoted(value));
	else
		json_object_del(object, dot ? dot + 1 : path);
}

/* The sample with a member of its first line changed; free(). */
static char *edited(const char *path, const char *value)
{
	const char *end = strchr(sample(), '\n');
	json_t *record = json_loadb(sample(), (size_t)(end - sample()), 0, NULL);
	struct tk_buf text = TK_BUF_INIT;

	assert_non_null(record);
	edit(record, path, value);
	char *line = json_dumps(record, JSON_COMPACT);

	tk_buf_add_printf(&text, "%s%s", line, end);
	free(line);
	json_decref(record);
	return tk_buf_detach(&text, NULL);
}

static void malformed_fields_are_named(void **state)
{
	static const struct {
		const char *path, *value, *words;
	} cases[] = {
	        {"format", "'2'", "file:1: format: expected an integer, found \"2\""},
	        {"machine", NULL, "file:1: night: not a record of `tracker export`"},
	        {"machine", "[]", "not a record of `tracker export`"},
	        {"night", "null", "not a record of `tracker export`"},
	        {"machine.name", NULL, "file:1: machine.name: is missing"},
	        {"machine.name", "null", "machine.name: is missing"},
	        {"machine.name", "7", "machine.name: expected a string, found 7"},
	        {"device", "[1]", "file:1: device: expected an object, found a list"},
	        {"device.arch", "{}", "device.arch: expected a string, found an empty object"},
	        {"build.status", "'fine'", "build.status: expected a"},
	        {"build.wall_s", "'x'", "build.wall_s: expected a number, found \"x\""},
	        {"build.size_bytes", "1.5", "build.size_bytes: expected an integer, found 1.5"},
	        {"build.built_s", "'x'", "build.built_s: expected an integer, found \"x\""},
	        {"night.as_of_s", "0", "night.as_of_s: expected a time between 1970 and 2200"},
	        {"night.started_s", "7258118400", "night.started_s: expected a time between"},
	        {"run.as_of_s", "-5", "run.as_of_s: expected a time between 1970 and 2200"},
	        {"night.kind", "'weekly'", "night.kind: expected a"},
	        {"run.outcome", "7", "run.outcome: expected a"},
	        {"run.wall_s", "[]", "run.wall_s: expected a number, found an empty list"},
	        {"series.better", "'sideways'", "series.better: expected a"},
	        {"measurement", "5", "measurement.value: expected a number, found nothing"},
	        {"measurement.value", NULL, "measurement.value: expected a number"},
	        {"measurement.value", "'1'", "measurement.value: expected a number, found \"1\""},
	        {"measurement.value", "0", "measurement.value: expected a time above 0, found 0"},
	        {"measurement.value", "-1.5", "expected a time above 0, found -1.5"},
	        {"measurement.n", "2.5", "measurement.n: expected an integer, found 2.5"},
	        {"measurement.lo", "'x'", "measurement.lo: expected a number, found \"x\""},
	        {"measurement.hi", "99", "the record was changed after its export"},
	        {"measurement.checksum", "7", "measurement.checksum: expected a string, found 7"},
	        {"measurement.checksum", "'0123456789abcdef'",
	                "its checksum is \"0123456789abcdef\", its content has"},
	        {"samples", "{'a': 1}", "samples: expected a list, found an object"},
	        {"samples", "[1, 'x']", "samples: expected numbers, found \"x\""},
	        {"build", "null", "file:1: run: has no build"},
	        {"series", "null", "file:1: measurement: has no series"},
	        {"run_series", "'0'", "run_series: no record before this one is of that series"},
	        {"stages", "7", "stages: expected a list, found 7"},
	        {"stages", "[7]", "stage: expected an object, found 7"},
	        {"tunings", "[{}]", "file:1: "},
	        {"tunings", "{'a': 1}", "tunings: expected a list, found an object"},
	        {"kernel_reports", "[[]]", "kernel_report: expected an object"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = edited(cases[i].path, cases[i].value);

		import_must_fail(RECORDS, text, cases[i].words);
		free(text);
	}
}

static void records_of_a_newer_tracker(void **state)
{
	struct import_rig rig;
	char *text = edited("format", "3");

	(void)state;
	import_rig_new(&rig);
	MUST_FAIL(TK_EVERSION, "written by a newer tracker (record format 3",
	        import_rig_read(&rig, RECORDS, text, &err));
	free(text);
	import_rig_free(&rig);
}

static void details_without_their_owner(void **state)
{
	static const char text[] = "{'format': 2, 'machine': {'name': 'm', 'attributes': '{}'}, "
	                           "'night': {'kind': 'nightly', 'as_of_s': 5, 'started_s': 5, "
	                           "'status': 'complete', 'seed': 1}, %s}";
	static const struct {
		const char *members, *words;
	} cases[] = {
	        {"'kernels': [{}]", "kernels: belongs to nothing"},
	        {"'tunings': [{}]", "tunings: belongs to nothing"},
	        {"'measurement': {'value': 1}", "measurement: has no run"},
	        {"'run': {'seq': 1}", "run: has no build"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char whole[512];

		snprintf(whole, sizeof whole, text, cases[i].members);
		import_must_fail(RECORDS, quoted(whole), cases[i].words);
	}
}

static void lines_that_are_no_records(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
	        {"{", "file:1:"},
	        {"[]", "file:1: night: not a record"},
	        {"{'machine': {}, 'machine': {}}", "duplicate"},
	        {"\n\n{'machine': 1}", "file:3: night: not a record"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		import_must_fail(RECORDS, quoted(cases[i].text), cases[i].words);
}

/* What may be left out is not known: null, or nothing. */
static void fields_that_may_be_missing(void **state)
{
	static const char *const paths[] = {"build.log", "build.wall_s", "revision.position",
	        "device.arch", "measurement.checksum", "samples", "stages"};

	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	for (size_t i = 0; i < 2 * (sizeof paths / sizeof *paths); i++) {
		char *text = edited(paths[i / 2], i % 2 ? "null" : NULL);

		MUST(import_rig_read(&rig, RECORDS, text, &err));
		free(text);
	}
	EXPECT_TEXT(import_rig_series(&rig, "blas"),
	        "gemm f32 512x512x512 nn time ns lower dtype=f32 family=square: "
	        "100@1001[n=3 lo=99 hi=101 min=98 q25=99.5 q75=100.5 p95=103] "
	        "200@1002[n=0 lo=199 hi=201 min=198 q25=199.5 q75=200.5 p95=203]\n");
	import_rig_free(&rig);
}

/* A run without a series of its own: its points are of many. */
static void a_run_of_many_series(void **state)
{
	struct import_rig rig;
	struct tk_rows runs = {0}, nights = {0};
	char *text = edited("run_series", "null"), *checksum = strstr(text, "\"checksum\"");

	(void)state;
	memcpy(checksum, "\"checksux\"", strlen("\"checksux\"")); /* it is another point */
	import_rig_new(&rig);
	MUST(import_rig_read(&rig, RECORDS, text, &err));
	MUST(tk_store_list_nights(rig.history.store, &nights, &err));
	MUST(tk_store_list_night_runs(
	        rig.history.store, TK_ROWS_AT(&nights, struct tk_night_row, 0)->id, &runs, &err));
	assert_int_equal(runs.count, 3);
	assert_int_equal(TK_ROWS_AT(&runs, struct tk_run_row, 0)->series_id, 0);
	assert_true(TK_ROWS_AT(&runs, struct tk_run_row, 1)->series_id > 0);
	tk_rows_free(&nights);
	tk_rows_free(&runs);
	free(text);
	import_rig_free(&rig);
}

/* A slug that the tracker does not make becomes a file name nowhere. */
static void slugs_of_others_are_made_again(void **state)
{
	static const char *const paths[] = {"series.slug", "device.slug"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct import_rig rig;
		struct tk_rows series = {0}, devices = {0};
		char *text = edited(paths[i], "'../x y'");

		strchr(text, '\n')[1] = '\0'; /* the other records have the old slug */
		import_rig_new(&rig);
		MUST(import_rig_read(&rig, RECORDS, text, &err));
		MUST(tk_store_list_series(rig.history.store, &series, &err));
		MUST(tk_store_list_devices(rig.history.store, &devices, &err));
		assert_null(strpbrk(TK_ROWS_AT(&series, struct tk_series_row, 0)->slug, "/ "));
		assert_null(strpbrk(TK_ROWS_AT(&devices, struct tk_device_row, 0)->slug, "/ "));
		tk_rows_free(&series);
		tk_rows_free(&devices);
		free(text);
		import_rig_free(&rig);
	}
}

int import_record_tests(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(records_bring_the_whole_history),
	        cmocka_unit_test(records_of_a_machine_with_another_name),
	        cmocka_unit_test(malformed_fields_are_named),
	        cmocka_unit_test(records_of_a_newer_tracker),
	        cmocka_unit_test(details_without_their_owner),
	        cmocka_unit_test(lines_that_are_no_records),
	        cmocka_unit_test(fields_that_may_be_missing),
	        cmocka_unit_test(a_run_of_many_series),
	        cmocka_unit_test(slugs_of_others_are_made_again),
	};

	return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
