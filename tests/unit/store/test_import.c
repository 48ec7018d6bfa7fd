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

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_part_of_a_file),
	        cmocka_unit_test(another_format_than_the_file_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
