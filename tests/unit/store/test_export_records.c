/* Records of nights as JSON, lines and CSV: which fields, in which order, and how values are
 * written. */
#include "history.h"
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The records since a time or of a night, as text; free() it. */
static char *export_of(
        struct history *h, int64_t since_s, int64_t night_id, enum tk_record_format format)
{
	char path[128], *text = calloc(1, 1 << 20);
	FILE *f;

	snprintf(path, sizeof path, "%s/export", h->dir);
	f = fopen(path, "w+");
	assert_true(f && text);
	MUST(tk_store_export_records(h->store, since_s, night_id, format, fileno(f), &err));
	rewind(f);
	if (fread(text, 1, (1 << 20) - 1, f) == 0)
		assert_true(feof(f));
	fclose(f);
	return text;
}

static json_t *export_json(struct history *h)
{
	char *text = export_of(h, INT64_MIN, 0, TK_RECORD_JSON);
	json_t *records = json_loads(text, 0, NULL);

	assert_true(json_is_array(records));
	free(text);
	return records;
}

/* A member "group.name" of a record as JSON; "(none)" where there is none. */
static void expect_field(
        const json_t *record, const char *group, const char *name, const char *expected)
{
	const json_t *object = *group ? json_object_get(record, group) : record,
	             *value = json_object_get(object, name);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : strdup("(none)");

	assert_non_null(text);
	if (strcmp(text, expected))
		fail_msg("%s.%s is %s, not %s", group, name, text, expected);
	free(text);
}

static void put_run(struct history *h, int64_t seq, double value, size_t samples)
{
	int64_t id;

	MUST(history_put_run(h, seq, value, samples, &id, &err));
}

/* ---- one record ---- */

static void a_record_has_all_that_identifies_a_point(void **state)
{
	struct history *h = *state;

	put_run(h, 1, 100, 2);
	json_t *records = export_json(h), *r = json_array_get(records, 0);
	assert_int_equal(json_array_size(records), 1);
	expect_field(r, "", "format", "2");
	expect_field(r, "machine", "name", "\"box\"");
	expect_field(r, "device", "name", "\"Some CPU\"");
	expect_field(r, "device", "kind", "\"cpu\"");
	expect_field(r, "upstream", "name", "\"blas\"");
	expect_field(r, "revision", "rev", "\"0123abcd\"");
	expect_field(r, "revision", "position", "7");
	expect_field(r, "build", "artifact_key", "\"key\"");
	expect_field(r, "problem", "text", "\"gemm:a=f32,k=512,m=512,n=512\"");
	expect_field(r, "problem", "flops", "268435456.0");
	expect_field(r, "series", "backend", "\"blas\"");
	expect_field(r, "series", "mode", "\"cold\"");
	expect_field(r, "series", "better", "\"lower\"");
	expect_field(r, "night", "as_of_s", "1000");
	expect_field(r, "night", "status", "\"running\"");
	expect_field(r, "run", "seq", "1");
	expect_field(r, "run", "outcome", "\"ok\"");
	expect_field(r, "measurement", "value", "100.0");
	expect_field(r, "measurement", "lo", "99.0");
	expect_field(r, "measurement", "n", "2");
	/* references follow from the groups */
	expect_field(r, "device", "machine_id", "(none)");
	expect_field(r, "run", "series_id", "(none)");
	json_decref(records);
}

static void samples_are_numbers(void **state)
{
	struct history *h = *state;

	put_run(h, 1, 100, 2);
	put_run(h, 2, 100, 0);
	json_t *records = export_json(h);
	expect_field(json_array_get(records, 0), "", "samples", "[100.0,100.919]");
	expect_field(json_array_get(records, 1), "", "samples", "null");
	json_decref(records);
}

/* A run that failed has no measurement. */
static void a_failed_run_is_a_record_without_a_value(void **state)
{
	struct history *h = *state;
	const struct tk_run_row run = {.night_id = h->night,
	        .seq = 1,
	        .series_id = h->series,
	        .build_id = h->build,
	        .environment_id = h->environment,
	        .as_of_s = 1000,
	        .outcome = TK_OUTCOME_CRASHED,
	        .message = "signal 11",
	        .attributes = "{}"};
	int64_t id;

	MUST(tk_store_put_run(h->store, &run, NULL, NULL, NULL, 0, &id, &err));
	json_t *records = export_json(h), *r = json_array_get(records, 0);
	assert_int_equal(json_array_size(records), 1);
	expect_field(r, "", "measurement", "null");
	expect_field(r, "run", "outcome", "\"crashed\"");
	expect_field(r, "run", "message", "\"signal 11\"");
	json_decref(records);
}

/* A night in which nothing ran is a record too. */
static void a_night_without_runs_is_a_record(void **state)
{
	struct history *h = *state;
	json_t *records = export_json(h), *r = json_array_get(records, 0);

	assert_int_equal(json_array_size(records), 1);
	expect_field(r, "night", "as_of_s", "1000");
	expect_field(r, "", "run", "null");
	expect_field(r, "", "series", "null");
	json_decref(records);
}

/* ---- details ---- */

/* With the first record of their owner, and null in the others. */
static void details_are_written_once(void **state)
{
	struct history *h = *state;
	const struct tk_stage_row stage = {.night_id = h->night,
	        .name = "probe",
	        .status = TK_STAGE_DONE,
	        .started_s = 1,
	        .finished_s = 2,
	        .detail = "d"};
	const struct tk_kernel_row kernel = {.build_id = h->build,
	        .backend = "blas",
	        .name = "k",
	        .code_hash = "aaaa",
	        .instructions = ""};
	int64_t id;

	MUST(tk_store_put_stage(h->store, &stage, &err));
	MUST(tk_store_put_kernel(h->store, &kernel, &id, &err));
	MUST(history_put_tuning(h, 100, &id, &err));
	put_run(h, 1, 100, 0);
	put_run(h, 2, 110, 0);
	json_t *records = export_json(h), *first = json_array_get(records, 0),
	       *second = json_array_get(records, 1);
	assert_int_equal(json_array_size(json_object_get(first, "stages")), 1);
	expect_field(json_array_get(json_object_get(first, "stages"), 0), "", "name", "\"probe\"");
	assert_int_equal(json_array_size(json_object_get(first, "kernels")), 1);
	expect_field(
	        json_array_get(json_object_get(first, "kernels"), 0), "", "code_hash", "\"aaaa\"");
	assert_int_equal(json_array_size(json_object_get(first, "tunings")), 1);
	expect_field(first, "", "ceilings", "null");
	for (size_t i = 0; i < 3; i++)
		expect_field(second, "", (const char *const[]){"stages", "kernels", "tunings"}[i],
		        "null");
	json_decref(records);
}

/* Whatever the order in which they were stored: by what identifies them. */
static void details_are_sorted(void **state)
{
	static const char *const names[] = {"site", "build", "probe", "measure"},
	                         *const sorted[] = {
	                                 "\"build\"", "\"measure\"", "\"probe\"", "\"site\""};
	struct history *h = *state;
	int64_t id;

	for (size_t i = 0; i < 4; i++) {
		const struct tk_stage_row stage = {
		        .night_id = h->night, .name = names[i], .detail = ""};
		const struct tk_kernel_row kernel = {.build_id = h->build,
		        .backend = "blas",
		        .name = names[i],
		        .code_hash = "",
		        .instructions = ""};

		MUST(tk_store_put_stage(h->store, &stage, &err));
		MUST(tk_store_put_kernel(h->store, &kernel, &id, &err));
	}
	MUST(history_put_tuning(h, 300, &id, &err));
	MUST(history_put_tuning(h, 100, &id, &err));
	MUST(history_put_tuning(h, 200, &id, &err));
	put_run(h, 1, 100, 0);
	json_t *records = export_json(h), *r = json_array_get(records, 0);

	for (size_t i = 0; i < 4; i++) {
		expect_field(
		        json_array_get(json_object_get(r, "stages"), i), "", "name", sorted[i]);
		expect_field(
		        json_array_get(json_object_get(r, "kernels"), i), "", "name", sorted[i]);
	}
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
		        json_integer_value(json_object_get(
		                json_array_get(json_object_get(r, "tunings"), i), "started_s")),
		        100 * (i + 1));
	json_decref(records);
}

static int64_t put_problem(struct history *h, const char *text)
{
	const struct tk_problem_row row = {
	        .text = text, .op = "gemm", .dtype = "", .title = text, .source = "", .family = ""};
	int64_t id;

	MUST(tk_store_put_problem(h->store, &row, &id, &err));
	return id;
}

/* What was found for a problem is in the record of that problem. */
static void details_are_those_of_their_problem(void **state)
{
	struct history *h = *state;
	int64_t id;

	put_run(h, 1, 100, 0);
	MUST(history_put_tuning(h, 100, &id, &err));
	put_problem(h, "gemm:m=1"); /* ids of devices and problems differ */
	h->problem = put_problem(h, "gemm:m=2");
	h->series = history_put_series(h, "blas", "cold", "time");
	MUST(history_put_tuning(h, 200, &id, &err));
	MUST(history_put_kernel_report(h, 300, &id, &err));
	put_run(h, 2, 100, 0);
	json_t *records = export_json(h), *first = json_array_get(records, 0),
	       *second = json_array_get(records, 1);

	expect_field(first, "problem", "text", "\"gemm:a=f32,k=512,m=512,n=512\"");
	assert_int_equal(json_array_size(json_object_get(first, "tunings")), 1);
	expect_field(json_array_get(json_object_get(first, "tunings"), 0), "", "started_s", "100");
	expect_field(first, "", "kernel_reports", "null");
	expect_field(second, "problem", "text", "\"gemm:m=2\"");
	assert_int_equal(json_array_size(json_object_get(second, "tunings")), 1);
	expect_field(json_array_get(json_object_get(second, "tunings"), 0), "", "started_s", "200");
	assert_int_equal(json_array_size(json_object_get(second, "kernel_reports")), 1);
	json_decref(records);
}

/* An export is written in pieces of 256 KiB. */
static void a_large_export_is_whole(void **state)
{
	struct history *h = *state;

	for (int64_t seq = 1; seq <= 3; seq++)
		put_run(h, seq, 100, 15000);
	json_t *records = export_json(h);

	assert_int_equal(json_array_size(records), 3);
	for (size_t i = 0; i < 3; i++) {
		const json_t *samples = json_object_get(json_array_get(records, i), "samples");

		assert_int_equal(json_array_size(samples), 15000);
		for (size_t k = 0; k < 15000; k++)
			assert_true(json_real_value(json_array_get(samples, k)) ==
			            100 + (double)((k * 7919) % 1000) / 1000.0);
	}
	json_decref(records);
	char *all = history_export(h->store);

	assert_true(strlen(all) > (size_t)256 << 10);
	assert_int_equal(all[strlen(all) - 1], '\n');
	free(all);
}

/* ---- which nights ---- */

static void nights_are_chosen_by_time_or_id(void **state)
{
	struct history *h = *state;
	static const struct {
		int64_t since_s;
		bool is_second; /* of the second night alone */
		int lines;
	} cases[] = {{INT64_MIN, false, 3}, {1000, false, 3}, {1001, false, 1}, {2000, false, 1},
	        {2001, false, 0}, {INT64_MIN, true, 1}};
	const struct tk_night_row later = {.machine_id = h->machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = 2000,
	        .started_s = 2000,
	        .config_hash = "",
	        .tracker_version = "",
	        .summary = "{}"};

	put_run(h, 1, 100, 0);
	put_run(h, 2, 110, 0);
	MUST(tk_store_begin_night(h->store, &later, &h->night, &err));
	put_run(h, 1, 120, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = export_of(
		        h, cases[i].since_s, cases[i].is_second ? h->night : 0, TK_RECORD_NDJSON);
		int lines = 0;
		for (const char *c = text; *c; c++)
			lines += *c == '\n';
		assert_int_equal(lines, cases[i].lines);
		free(text);
	}
}

/* ---- formats ---- */

static void no_record_is_an_empty_list(void **state)
{
	struct history *h = *state;
	char *text = export_of(h, 5000, 0, TK_RECORD_JSON);

	assert_string_equal(text, "[]\n");
	free(text);
	text = export_of(h, 5000, 0, TK_RECORD_NDJSON);
	assert_string_equal(text, "");
	free(text);
	text = export_of(h, 5000, 0, TK_RECORD_CSV); /* its heading alone */
	assert_int_equal(strncmp(text, "format,machine.uid,machine.name,", 32), 0);
	assert_string_equal(strchr(text, '\r'), "\r\n");
	free(text);
}

static void records_are_a_list_or_lines(void **state)
{
	struct history *h = *state;

	put_run(h, 1, 100, 0);
	put_run(h, 2, 110, 0);
	char *list = export_of(h, INT64_MIN, 0, TK_RECORD_JSON),
	     *lines = export_of(h, INT64_MIN, 0, TK_RECORD_NDJSON);
	char *end = strchr(lines, '\n');
	assert_non_null(end);
	*end = 0;
	assert_int_equal(strncmp(list, "[\n", 2), 0);
	assert_int_equal(strncmp(list + 2, lines, strlen(lines)), 0);
	assert_int_equal(strncmp(list + 2 + strlen(lines), ",\n{", 3), 0);
	assert_string_equal(list + strlen(list) - 4, "}\n]\n");
	free(list);
	free(lines);
}

/* The text of a field in the n-th row; fields with quotes are unpacked. */
static void read_csv(const char *text, const char *heading, char *out)
{
	const char *at = text, *row;
	size_t column = 0;
	bool is_quoted = false;

	for (const char *end = strstr(text, "\r\n"); at < end; column++) {
		const size_t len = strcspn(at, ",\r");
		if (len == strlen(heading) && !strncmp(at, heading, len))
			break;
		at += len + 1;
	}
	row = strstr(text, "\r\n") + 2;
	for (size_t i = 0; i < column; row++) {
		is_quoted ^= *row == '"';
		i += *row == ',' && !is_quoted;
	}
	size_t n = 0;
	for (is_quoted = false; is_quoted || (*row != ',' && *row != '\r'); row++) {
		if (*row != '"')
			out[n++] = *row;
		else if (is_quoted && row[1] == '"')
			out[n++] = *++row;
		else
			is_quoted = !is_quoted;
	}
	out[n] = 0;
}

static void values_of_csv_are_quoted_where_needed(void **state)
{
	static const struct {
		const char *heading, *value;
	} fields[] = {{"format", "2"}, {"machine.name", "box"},
	        {"machine.attributes", "{\"cores\":2}"}, {"measurement.value", "100.0"},
	        {"run.message", "a \"b\", c\r\nd"}, {"samples", "[100.0,100.919]"},
	        {"measurement.lo", "99.0"}, {"run_series", NULL}, {"ceilings", ""}};
	struct history *h = *state;
	char value[400];

	put_run(h, 1, 100, 2);
	history_run_sql(h, "UPDATE run SET message = 'a \"b\", c' || char(13) || char(10) || 'd'");
	char *text = export_of(h, INT64_MIN, 0, TK_RECORD_CSV);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		read_csv(text, fields[i].heading, value);
		if (fields[i].value)
			assert_string_equal(value, fields[i].value);
		else
			assert_int_equal(strlen(value), 32); /* a uid */
	}
	assert_non_null(strstr(text, ",\"a \"\"b\"\", c\r\nd\","));
	assert_non_null(strstr(text, ",box,"));
	free(text);
}

static void a_full_device_is_an_error(void **state)
{
	struct history *h = *state;
	FILE *f = fopen("/dev/full", "w");
	struct tk_error failure = {0};

	assert_non_null(f);
	put_run(h, 1, 100, 2);
	assert_int_equal(tk_store_export_records(
	                         h->store, INT64_MIN, 0, TK_RECORD_JSON, fileno(f), &failure),
	        TK_ENOSPC);
	assert_string_equal(failure.message, "cannot write the export: No space left on device");
	assert_int_equal(tk_store_export(h->store, fileno(f), &failure), TK_ENOSPC);
	fclose(f);
}

/* The disk is full, or the reader gone, after a part of the export. */
static void an_export_that_ends_in_its_middle(void **state)
{
	struct history *h = *state;
	struct tk_error failure = {0};
	struct rlimit before, small;
	int ends[2];

	for (int64_t seq = 1; seq <= 2; seq++)
		put_run(h, seq, 100, 15000);
	FILE *f = tmpfile();

	assert_non_null(f);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 100000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int status = tk_store_export(h->store, fileno(f), &failure);

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, TK_EIO);
	assert_string_equal(failure.message, "cannot write the export: File too large");
	fclose(f);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	assert_int_equal(tk_store_export(h->store, ends[1], &failure), TK_EIO);
	close(ends[1]);
	/* The history can be read and written as before. */
	put_run(h, 3, 100, 0);
	char *all = history_export(h->store);

	assert_true(*all);
	free(all);
}

/* A text that is not UTF-8 has no form in JSON. */
static void a_text_that_is_not_utf8_is_an_error(void **state)
{
	struct history *h = *state;
	FILE *f = tmpfile();

	assert_non_null(f);
	put_run(h, 1, 100, 2);
	history_run_sql(h, "UPDATE machine SET name = cast(x'ff41' AS TEXT)");
	MUST_FAIL(TK_EDATA, "cannot be written as JSON",
	        tk_store_export_records(h->store, INT64_MIN, 0, TK_RECORD_JSON, fileno(f), &err));
	MUST_FAIL(TK_EDATA, "a row of machine cannot be written as JSON",
	        tk_store_export(h->store, fileno(f), &err));
	fclose(f);
}

/* ---- the whole history ---- */

static void every_table_is_exported_with_uids(void **state)
{
	struct history *h = *state;
	char path[128], line[4096];
	size_t lines = 0, runs = 0;
	FILE *f;

	put_run(h, 1, 100, 2);
	snprintf(path, sizeof path, "%s/export", h->dir);
	f = fopen(path, "w+");
	assert_non_null(f);
	MUST(tk_store_export(h->store, fileno(f), &err));
	rewind(f);
	for (; fgets(line, sizeof line, f); lines++) {
		json_t *row = json_loads(line, 0, NULL);
		const char *table = json_string_value(json_object_get(row, "table"));
		assert_non_null(table);
		assert_null(json_object_get(row, "id"));
		if (!strcmp(table, "run")) {
			runs++;
			/* a reference is the uid of the row */
			assert_int_equal(
			        strlen(json_string_value(json_object_get(row, "night"))), 32);
			assert_int_equal(json_integer_value(json_object_get(row, "seq")), 1);
		}
		json_decref(row);
	}
	assert_int_equal(runs, 1);
	/* machine, device, environment, upstream, revision, build, problem, series, night, run,
	 * measurement and sample */
	assert_int_equal(lines, 12);
	fclose(f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_record_has_all_that_identifies_a_point),
	        TEST(samples_are_numbers),
	        TEST(a_failed_run_is_a_record_without_a_value),
	        TEST(a_night_without_runs_is_a_record),
	        TEST(details_are_written_once),
	        TEST(details_are_sorted),
	        TEST(details_are_those_of_their_problem),
	        TEST(a_large_export_is_whole),
	        TEST(an_export_that_ends_in_its_middle),
	        TEST(nights_are_chosen_by_time_or_id),
	        TEST(no_record_is_an_empty_list),
	        TEST(records_are_a_list_or_lines),
	        TEST(values_of_csv_are_quoted_where_needed),
	        TEST(a_full_device_is_an_error),
	        TEST(a_text_that_is_not_utf8_is_an_error),
	        TEST(every_table_is_exported_with_uids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
