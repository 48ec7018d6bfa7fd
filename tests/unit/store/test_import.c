/* Files that were cut off while they were copied: whatever is left of a file, it is imported as a
 * whole or not at all. */
#include "base/buf.h"
#include "base/file.h"
#include "history.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTS 40 /* of each file */

static void write_part(const char *path, const char *data, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static int import(struct history *h, const char *format, const char *path,
        struct tk_import_counts *counts, struct tk_error *err)
{
	const struct tk_import_request request = {.format = format,
	        .paths = &path,
	        .path_count = 1,
	        .machine = "box",
	        .at_s = 1700000000};

	*counts = (struct tk_import_counts){0};
	return tk_store_import(h->store, &request, counts, err);
}

static const struct sample {
	const char *format, *file;
	bool json; /* no part of it is well-formed */
} samples[] = {
        {"google-benchmark", "google.json", true},
        {"hyperfine", "hyperfine.json", true},
        {"nvbench", "nvbench.json", true},
        {"pytest-benchmark", "pytest.json", true},
        {"kernels", "kernels.json", true},
        {"github-action", "scamp.data.js", true},
        {"csv", "tigerbeetle.csv", false},
        {"csv", "wide.csv", false},
        {"gemm-csv", "rocblas.csv", false},
        {"gemm-csv", "cutlass.csv", false},
};

static void read_sample(const struct sample *s, struct tk_buf *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/cli/import/data/%s", TK_SOURCE_ROOT, s->file);
	MUST(tk_file_read(path, 1 << 20, text, &err));
	while (text->len && strchr(" \r\n;", text->data[text->len - 1]))
		text->len--;
}

static void a_part_of_a_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		const struct sample *s = &samples[i];
		struct tk_import_counts counts;
		struct tk_buf text = TK_BUF_INIT;
		struct history h;
		char path[160];

		history_new(&h);
		snprintf(path, sizeof(path), "%s/part", h.dir);
		read_sample(s, &text);
		for (size_t cut = 0; cut < CUTS; cut++) {
			struct tk_error err = {0};
			size_t before = history_count(&h, "measurement");
			int status;

			write_part(path, text.data, text.len * cut / CUTS);
			status = import(&h, s->format, path, &counts, &err);
			if (status && (status != TK_EDATA || !strstr(err.message, "part")))
				fail_msg("%s, part %zu: %s", s->file, cut, err.message);
			if (s->json && !status)
				fail_msg("%s: part %zu was imported", s->file, cut);
			if (status)
				assert_int_equal(history_count(&h, "measurement"), before);
		}
		write_part(path, text.data, text.len);
		MUST(import(&h, s->format, path, &counts, &err));
		assert_true(history_count(&h, "measurement") > 0);
		MUST(import(&h, s->format, path, &counts, &err));
		assert_int_equal(counts.points, 0);
		tk_buf_free(&text);
		history_free(&h);
	}
}

/* A format is asked for by name, and the file is something else. */
static void another_format_than_the_file_has(void **state)
{
	struct history h;

	(void)state;
	history_new(&h);
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
			struct tk_import_counts counts;
			struct tk_error err = {0};
			struct tk_buf text = TK_BUF_INIT;
			char path[160];

			if (samples[i].json == samples[k].json)
				continue;
			snprintf(path, sizeof(path), "%s/file", h.dir);
			read_sample(&samples[k], &text);
			write_part(path, text.data, text.len);
			assert_int_equal(
			        import(&h, samples[i].format, path, &counts, &err), TK_EDATA);
			tk_buf_free(&text);
		}
	assert_int_equal(history_count(&h, "measurement"), 0);
	history_free(&h);
}

#define ENTRY(commit, benches) \
	"window.BENCHMARK_DATA = {\"entries\": {\"s\": [{\"commit\": " commit \
	", \"date\": 1700000000000, \"benches\": " benches "}]}}"
#define ASV(row) \
	"{\"commit_hash\": \"abc\", \"date\": 1700000000000, \"params\": {\"machine\": \"box\"}, " \
	"\"version\": 2, \"result_columns\": [\"result\", \"params\"], " \
	"\"results\": {\"time_x\": " row "}}"

/* A file of one result with something of the wrong type: what the message names. */
static const struct {
	const char *format, *text, *message;
} wrong[] = {
        {"github-action", ENTRY("{}", "[]"), "entries.s[0].commit.id: is missing"},
        {"github-action", ENTRY("{\"id\": \"a\"}", "7"), ".benches: expected a list, found 7"},
        {"github-action", ENTRY("{\"id\": \"a\"}", "[{\"value\": 1}]"), ".benches[0].name"},
        {"github-action", ENTRY("{\"id\": \"a\"}", "[{\"name\": \"n\", \"value\": \"fast\"}]"),
                ".benches[0].value: expected a number, found \"fast\""},
        {"github-action",
                ENTRY("{\"id\": \"a\"}", "[{\"name\": \"n\", \"value\": 1, \"unit\": 2}]"),
                ".benches[0].unit: expected a string"},
        {"github-action", "window.BENCHMARK_DATA = {\"entries\": {\"s\": {\"a\": 1}}}",
                "expected a list of commits"},
        {"github-action",
                "{\"entries\": {\"s\": [{\"commit\": {\"id\": \"a\", \"timestamp\": \"soon\"}, "
                "\"benches\": []}]}}",
                ".commit.timestamp: expected a time, found \"soon\""},
        {"asv", ASV("[[\"slow\"], []]"), ".result[0]: expected a number, found \"slow\""},
        {"asv", ASV("[[1], [[]]]"), ".params[0]: expected a list of values"},
        {"asv", ASV("[[1], [[7]]]"), ".params[0]: expected strings, found 7"},
        {"asv", "[1]", "expected an object"},
        {"kernels", "[7]", "[0]: expected an object, found 7"},
        {"kernels", "[{\"latency_ms\": 1}]", "[0].kernel: is missing"},
        {"kernels", "[{\"kernel\": 5, \"latency_ms\": 1}]", "[0].kernel: expected"},
        {"kernels", "[{\"kernel\": \"k\", \"latency_ms\": \"fast\"}]", "[0].latency_ms: expected"},
        {"kernels", "[{\"kernel\": \"k\", \"gpu_model\": [], \"latency_ms\": 1}]", "gpu_model"},
        {"kernels", "{\"kernel\": \"k\", \"latency_ms\": 1}\n{\"kernel\"\n", "file:2:"},
        {"kernels", "[]", "there is no kernel in it"},
        {"pytest-benchmark", "{\"benchmarks\": [{\"stats\": {\"mean\": 1}}]}", "name: is missing"},
        {"csv", "day,value\nsoon,1\n", "\"soon\" is not a time"},
        {"csv", "day,value\n1e18,1\n", "\"1e18\" is not a time"},
        {"csv", "day,value,better\n1,1,sideways\n", "\"sideways\" is not \"lower\""},
        {"csv", "name,value\na,1\n", "there is no column of times"},
};

static void wrong_types_are_named(void **state)
{
	struct history h;
	char path[160];

	(void)state;
	history_new(&h);
	snprintf(path, sizeof(path), "%s/file", h.dir);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tk_import_counts counts;
		struct tk_error err = {0};

		write_part(path, wrong[i].text, strlen(wrong[i].text));
		if (import(&h, wrong[i].format, path, &counts, &err) != TK_EDATA ||
		        !strstr(err.message, wrong[i].message))
			fail_msg("%s: `%s` is not in `%s`", wrong[i].text, wrong[i].message,
			        err.message);
	}
	assert_int_equal(history_count(&h, "measurement"), 0);
	assert_int_equal(history_count(&h, "night"), 0);
	history_free(&h);
}

/* Units of time are told apart by their size: all of these are 2020-09-13 12:26:40 UTC. */
static void times_of_a_csv(void **state)
{
	static const char *const times[] = {"1600000000", "1600000000000", "1600000000000000",
	        "2020-09-13T12:26:40Z", "2020-09-13 12:26:40", "2020-09-13T14:26:40.25+0200"};

	(void)state;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		struct tk_import_counts counts;
		struct history h;
		char path[160], text[160];

		history_new(&h);
		snprintf(path, sizeof(path), "%s/file", h.dir);
		for (size_t k = 0; k < 2; k++) {
			snprintf(text, sizeof(text), "series_id,time,commit,value\na,%s,c,5\n",
			        times[k ? i : 0]);
			write_part(path, text, strlen(text));
			MUST(import(&h, "csv", path, &counts, &err));
			assert_int_equal(counts.points, !k); /* the second time it is known */
		}
		history_free(&h);
	}
}

/* A name may contain the byte that separates name and backend in the attributes. */
static void a_kernel_with_a_separator_in_its_name(void **state)
{
	static const char text[] =
	        "[{\"kernel\": \"k\\u001fa\", \"backend\": \"b\", \"latency_ms\": 1, \"x\": 1},"
	        " {\"kernel\": \"k\\u001fc\", \"backend\": \"b\", \"latency_ms\": 2, \"x\": 2}]";
	struct tk_import_counts counts;
	struct history h;
	char path[160];

	(void)state;
	history_new(&h);
	snprintf(path, sizeof(path), "%s/file", h.dir);
	write_part(path, text, strlen(text));
	MUST(import(&h, "kernels", path, &counts, &err));
	assert_int_equal(counts.series, 2);
	assert_int_equal(counts.points, 2);
	history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_part_of_a_file),
	        cmocka_unit_test(another_format_than_the_file_has),
	        cmocka_unit_test(wrong_types_are_named),
	        cmocka_unit_test(times_of_a_csv),
	        cmocka_unit_test(a_kernel_with_a_separator_in_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
