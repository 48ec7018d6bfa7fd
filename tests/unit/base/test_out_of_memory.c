/* Every allocation of base/ that fails is reported, and leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc_sweep.h"
#include "base/archive.h"
#include "base/buf.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "base/serializer.h"
#include "base/yaml.h"

static char folder[64];

/* A path in the folder of this test; valid until the fourth call after this one. */
static const char *in_folder(const char *name)
{
	static char paths[4][128];
	static size_t next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof *paths, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	assert_int_equal(tk_file_write(in_folder(name), text, strlen(text), NULL), TK_OK);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tracker-memory-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return tk_dir_remove(folder, NULL);
}

static void sweep(const char *name, int (*call)(void *arg, struct tk_error *err))
{
	alloc_sweep(&(struct alloc_sweep){.name = name, .call = call});
}

/* ---- buf ------------------------------------------------------------------------------------- */

static int fill_buffer(void *arg, struct tk_error *err)
{
	struct tk_buf b = TK_BUF_INIT;
	char *text, long_text[3000];

	(void)arg;
	memset(long_text, 'x', sizeof long_text);
	tk_buf_add_str(&b, "a");
	tk_buf_add_printf(&b, "%d %.*s", 7, 2000, long_text);
	tk_buf_add_utf8(&b, "\xff!", 2);
	tk_buf_add(&b, long_text, sizeof long_text);
	tk_buf_add_char(&b, 'z');
	if (b.status)
		assert_string_equal(tk_buf_cstr(&b), "");
	text = tk_buf_detach(&b, err);
	assert_null(b.data);
	if (!text)
		return err->status;
	assert_int_equal(strlen(text), 3 + 2000 + 4 + sizeof long_text + 1);
	free(text);
	return TK_OK;
}

static void a_buffer(void **state)
{
	(void)state;
	sweep("buf", fill_buffer);
}

/* ---- csv ------------------------------------------------------------------------------------- */

static int read_table(void *arg, struct tk_error *err)
{
	static const char *const names[] = {"b", "a", NULL};
	struct tk_csv csv = {0};
	size_t columns[2], rows = 0;
	bool more = true;
	int status = tk_csv_open(&csv, in_folder("t.csv"), err);

	(void)arg;
	if (!status)
		status = tk_csv_read_header(&csv, names, columns, err);
	for (; !status && more; rows += more) {
		status = tk_csv_read_row(&csv, &more, err);
		if (!status && more)
			assert_string_equal(csv.fields[columns[0]], "x\"y");
	}
	if (!status)
		assert_int_equal(rows, 3);
	tk_csv_close(&csv);
	return status;
}

static void a_table(void **state)
{
	struct tk_buf text = TK_BUF_INIT;

	(void)state;
	tk_buf_add_str(&text, "a,b,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n");
	for (size_t i = 0; i < 3; i++)
		tk_buf_add_str(&text, "1,\"x\"\"y\",,,,,,,,,,,,,,,,,\n");
	write_file("t.csv", text.data);
	tk_buf_free(&text);
	sweep("csv", read_table);
}

/* ---- yaml ------------------------------------------------------------------------------------ */

static int read_document(void *arg, struct tk_error *err)
{
	static const char text[] = "a: 1\nb: [x, y]\nc: {d: '*'}\n";
	struct tk_yaml *y;
	int status = tk_yaml_parse("t.yml", text, sizeof text - 1, &y, err);

	(void)arg;
	if (status)
		return status;
	status = tk_yaml_reject_aliases(y, text, sizeof text - 1, err);
	assert_int_equal(tk_yaml_count(y, tk_yaml_root(y)), 3);
	tk_yaml_free(y);
	return status;
}

static void a_document(void **state)
{
	(void)state;
	sweep("yaml", read_document);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int visit(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	(void)relative, (void)st, (void)err;
	++*(size_t *)arg;
	return TK_OK;
}

static int copy_tree(void *arg, struct tk_error *err)
{
	size_t seen = 0;
	int status = tk_dir_copy(in_folder("from"), in_folder("to"), err);

	(void)arg;
	if (!status)
		status = tk_dir_walk(in_folder("to"), visit, &seen, err);
	if (!status) {
		assert_int_equal(seen, 4);
		status = tk_dir_remove(in_folder("to"), err);
	}
	return status;
}

static void remove_copy(void *arg)
{
	(void)arg;
	assert_int_equal(tk_dir_remove(in_folder("to"), NULL), TK_OK);
}

static int list_and_make(void *arg, struct tk_error *err)
{
	char **names = NULL, *path = NULL;
	size_t count = 0;
	int status = tk_dir_list(in_folder("from"), &names, &count, err);

	(void)arg;
	if (status)
		return status;
	assert_int_equal(count, 2);
	tk_names_free(names, count);
	status = tk_dir_create_temp(folder, "temp-", &path, err);
	if (status)
		return status;
	status = tk_dir_remove(path, err);
	free(path);
	return status;
}

static int write_and_read(void *arg, struct tk_error *err)
{
	struct tk_buf text = TK_BUF_INIT;
	int status = tk_file_write(in_folder("new"), "new", 3, err);

	(void)arg;
	if (!status)
		status = tk_file_read(in_folder("new"), 0, &text, err);
	if (!status)
		assert_string_equal(tk_buf_cstr(&text), "new");
	tk_buf_free(&text);
	return status;
}

static void old_or_new(void *arg, int status)
{
	struct tk_buf text = TK_BUF_INIT;
	size_t count, siblings = 0;
	char **names;

	(void)arg;
	assert_int_equal(tk_file_read(in_folder("new"), 0, &text, NULL), TK_OK);
	if (status)
		assert_true(!strcmp(text.data, "old") || !strcmp(text.data, "new"));
	tk_buf_free(&text);
	assert_int_equal(tk_dir_list(folder, &names, &count, NULL), TK_OK);
	for (size_t i = 0; i < count; i++)
		siblings += strncmp(names[i], "new", 3) == 0;
	tk_names_free(names, count);
	assert_int_equal(siblings, 1); /* no temporary file is left */
}

static void write_old(void *arg)
{
	(void)arg;
	write_file("new", "old");
}

static void files_and_folders(void **state)
{
	(void)state;
	assert_int_equal(tk_dir_create(in_folder("from/deep"), NULL), TK_OK);
	write_file("from/a", "a");
	write_file("from/deep/b", "b");
	write_file("from/deep/c", "c");
	alloc_sweep(&(struct alloc_sweep){
	        .name = "dir_copy", .call = copy_tree, .before = remove_copy});
	sweep("dir_list", list_and_make);
	assert_int_equal(tk_dir_remove(in_folder("to"), NULL), TK_OK);
	alloc_sweep(&(struct alloc_sweep){
	        .name = "file", .call = write_and_read, .before = write_old, .after = old_or_new});
}

/* ---- paths ----------------------------------------------------------------------------------- */

static int take_path(char *path, const char *expected, struct tk_error *err)
{
	if (!path)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	if (expected)
		assert_string_equal(path, expected);
	free(path);
	return TK_OK;
}

static int make_paths(void *arg, struct tk_error *err)
{
	int status = take_path(tk_path_join3("/a", "b", "c"), "/a/b/c", err);

	(void)arg;
	if (!status)
		status = take_path(tk_path_make_absolute("/a/./b/../c"), "/a/c", err);
	if (!status)
		status = take_path(tk_path_make_absolute("x"), NULL, err);
	if (!status)
		status = take_path(tk_path_resolve("/root", "~/x"), NULL, err);
	if (!status)
		status = take_path(tk_path_resolve("/root", "y"), "/root/y", err);
	return status;
}

static void paths(void **state)
{
	(void)state;
	sweep("path", make_paths);
}

/* ---- archives and hashes --------------------------------------------------------------------- */

static int pack_and_unpack(void *arg, struct tk_error *err)
{
	char one[TK_HASH_HEX_SIZE], two[TK_HASH_HEX_SIZE];
	const char *archive = in_folder("t.tar.zst");
	int status = tk_archive_write(archive, in_folder("from"), err);

	(void)arg;
	if (!status)
		status = tk_archive_extract(archive, in_folder("to"), 1 << 20, err);
	for (size_t i = 0; i < 2 && !status; i++) {
		struct tk_hash *h = tk_hash_new();

		if (!h)
			return tk_fail(err, TK_ENOMEM, "out of memory");
		status = tk_hash_add_tree(h, in_folder(i ? "to" : "from"), err);
		if (status)
			tk_hash_free(h);
		else
			tk_hash_finish(h, i ? two : one);
	}
	if (!status)
		assert_string_equal(one, two);
	return status;
}

static void remove_archive(void *arg)
{
	remove_copy(arg);
	remove(in_folder("t.tar.zst"));
}

static int compress(void *arg, struct tk_error *err)
{
	struct tk_buf packed = TK_BUF_INIT, text = TK_BUF_INIT;
	int status = tk_zstd_compress(folder, sizeof folder, &packed, err);

	(void)arg;
	if (!status)
		status = tk_zstd_decompress(packed.data, packed.len, 1000, &text, err);
	if (!status)
		assert_memory_equal(text.data, folder, sizeof folder);
	tk_buf_free(&packed);
	tk_buf_free(&text);
	return status;
}

static void archives(void **state)
{
	(void)state;
	assert_int_equal(tk_dir_create(in_folder("from/deep"), NULL), TK_OK);
	write_file("from/deep/b", "b");
	alloc_sweep(&(struct alloc_sweep){
	        .name = "archive", .call = pack_and_unpack, .before = remove_archive});
	sweep("zstd", compress);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int run_program(void *arg, struct tk_error *err)
{
	static const char *const argv[] = {"sh", "-c", "echo $WORD; echo error >&2", NULL};
	static const char *const env[] = {"WORD=hello", NULL};
	const struct tk_process_spec spec = {.argv = argv, .env = env};
	struct tk_process_result result;
	int status = tk_process_run(&spec, &result, err);

	(void)arg;
	if (!status)
		status = tk_process_check(&spec, &result, err);
	if (!status)
		assert_string_equal(tk_buf_cstr(&result.out), "hello\n");
	tk_process_result_free(&result);
	return status;
}

static void processes(void **state)
{
	(void)state;
	/* Only what it printed on stderr may be lost, which is for messages. */
	alloc_sweep(
	        &(struct alloc_sweep){.name = "process", .call = run_program, .may_succeed = true});
}

/* ---- rows of numbers ------------------------------------------------------------------------- */

static int serialize(void *arg, struct tk_error *err)
{
	struct tk_serializer row = {0};
	int status = TK_OK;

	(void)arg;
	for (size_t i = 0; i < 100; i++)
		tk_serialize_size(&row, &i, 100);
	if (row.failed)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	else
		assert_int_equal(row.count, 100);
	tk_serializer_free(&row);
	return status;
}

static void rows_of_numbers(void **state)
{
	(void)state;
	sweep("serializer", serialize);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_buffer),
	        TEST(a_table),
	        TEST(a_document),
	        TEST(files_and_folders),
	        TEST(paths),
	        TEST(archives),
	        TEST(processes),
	        TEST(rows_of_numbers),
	};

	return cmocka_run_group_tests_name("base out of memory", tests, NULL, NULL);
}
