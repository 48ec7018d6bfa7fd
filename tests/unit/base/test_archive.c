/* Blobs and archives, most of all the hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

static char *dir;
static struct tk_error err;

static int set_up(void **state)
{
	return tk_dir_create_temp("/tmp", "tk-pack-", &dir, &err);
}

static int tear_down(void **state)
{
	int status = tk_dir_remove(dir, &err);

	free(dir);
	return status;
}

static const char *in(const char *name)
{
	static char paths[4][4096];
	static int next;
	char *p = paths[next++ % 4];

	snprintf(p, sizeof paths[0], "%s/%s", dir, name);
	return p;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(tk_file_write_nosync(in(name), text, strlen(text), &err), TK_OK);
}

/* Sixty-four folders are enough for any build. */
static void too_deep(void **state)
{
	char path[4096], *end = path + snprintf(path, sizeof path, "%s", in("deep"));

	for (int i = 0; i < 70; i++) {
		assert_int_equal(tk_dir_create(path, &err), TK_OK);
		if (i == 50)
			assert_int_equal(
			        tk_archive_write(in("flat.tar.zst"), in("deep"), NULL, &err),
			        TK_OK);
		end += sprintf(end, "/d");
	}
	assert_int_equal(tk_archive_write(in("deep.tar.zst"), in("deep"), NULL, &err), TK_OK);
	assert_int_equal(tk_archive_extract(in("flat.tar.zst"), in("flat"), 0, &err), TK_OK);
	assert_int_equal(tk_archive_extract(in("deep.tar.zst"), in("out"), 0, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "lies in too many folders"));
	assert_false(tk_dir_exists(in("out")));
}

/* 512 MiB of zeros in a few kilobytes. */
static void too_dense(void **state)
{
	assert_int_equal(tk_dir_create(in("dense"), &err), TK_OK);
	put("dense/zeros", "");
	assert_int_equal(truncate(in("dense/zeros"), (off_t)512 << 20), 0);
	assert_int_equal(tk_archive_write(in("dense.tar.zst"), in("dense"), NULL, &err), TK_OK);
	assert_int_equal(tk_archive_extract(in("dense.tar.zst"), in("out"), 0, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "times its size"));
	assert_false(tk_dir_exists(in("out")));
}

static void blob_round_trip(void **state)
{
	struct tk_buf packed = TK_BUF_INIT, out = TK_BUF_INIT;
	char *data = malloc(300000);

	for (int i = 0; i < 300000; i++)
		data[i] = (char)((unsigned)i * (unsigned)i >> 7);
	assert_int_equal(tk_zstd_compress(data, 300000, &packed, &err), TK_OK);
	assert_int_equal(tk_zstd_decompress(packed.data, packed.len, 300000, &out, &err), TK_OK);
	assert_int_equal(out.len, 300000);
	assert_memory_equal(out.data, data, 300000);
	tk_buf_clear(&out);
	assert_int_equal(tk_zstd_decompress(packed.data, packed.len, 299999, &out, &err), TK_EDATA);
	assert_string_equal(err.message, "unpacks to more than 299999 bytes");
	tk_buf_clear(&out);
	assert_int_equal(
	        tk_zstd_decompress(packed.data, packed.len - 5, 300000, &out, &err), TK_EDATA);
	assert_string_equal(err.message, "zstd: truncated");
	tk_buf_clear(&out);
	for (size_t i = packed.len / 2; i < packed.len;
	        i += 97) { /* a byte of what cannot be packed is no error of form */
		packed.data[i] ^= 1;
		assert_int_equal(
		        tk_zstd_decompress(packed.data, packed.len, 300000, &out, &err), TK_EDATA);
		packed.data[i] ^= 1;
		tk_buf_clear(&out);
	}
	tk_buf_add_str(&packed, "junk");
	assert_int_equal(tk_zstd_decompress(packed.data, packed.len, 300000, &out, &err), TK_EDATA);
	assert_string_equal(err.message, "zstd: 4 extra bytes after the end");
	tk_buf_clear(&out);
	assert_int_equal(tk_zstd_decompress("not zstd at all", 15, 100, &out, &err), TK_EDATA);
	assert_memory_equal(err.message, "zstd: ", 6);
	tk_buf_free(&packed);
	tk_buf_free(&out);
	free(data);
}

static void tree_hash(const char *path, char hex[TK_HASH_HEX_SIZE])
{
	struct tk_hash *h = tk_hash_new();

	assert_int_equal(tk_hash_add_tree(h, path, &err), TK_OK);
	tk_hash_finish(h, hex);
}

static void archive_round_trip(void **state)
{
	char a[TK_HASH_HEX_SIZE], b[TK_HASH_HEX_SIZE], *long_name = malloc(300);
	struct tk_buf first = TK_BUF_INIT, second = TK_BUF_INIT;

	tk_dir_create(in("src/lib/empty"), &err);
	put("src/lib/kernel.so", "machine code");
	put("src/manifest.json", "{}");
	put("src/gr\xc3\xbc\xc3\x9f", "utf-8 name");
	memset(long_name, 'n', 299);
	memcpy(long_name, "src/", 4);
	long_name[220] = '\0';
	put(long_name, "long name");
	assert_int_equal(chmod(in("src/lib/kernel.so"), 0755), 0);
	assert_int_equal(symlink("lib/kernel.so", in("src/link")), 0);
	assert_int_equal(tk_archive_write(in("a.tar.zst"), in("src"), NULL, &err), TK_OK);
	if (tk_archive_extract(in("a.tar.zst"), in("dst"), 1 << 20, &err))
		fail_msg("%s", err.message);
	tree_hash(in("src"), a);
	tree_hash(in("dst"), b);
	assert_string_equal(a, b);
	assert_true(tk_dir_exists(in("dst/lib/empty")));
	/* Equal folders make equal archives. */
	assert_int_equal(tk_archive_write(in("b.tar.zst"), in("dst"), NULL, &err), TK_OK);
	assert_int_equal(tk_file_read(in("a.tar.zst"), 0, &first, &err), TK_OK);
	assert_int_equal(tk_file_read(in("b.tar.zst"), 0, &second, &err), TK_OK);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
	assert_int_equal(tk_archive_extract(in("a.tar.zst"), in("dst2"), 10, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "a.tar.zst: unpacks to more than 10 bytes"));
	assert_false(tk_dir_exists(in("dst2")));
	tk_buf_free(&first);
	tk_buf_free(&second);
	free(long_name);
}

struct evil {
	const char *name;
	unsigned type;
	const char *link, *hardlink, *expected;
};

static void make_evil(const char *path, const struct evil *e)
{
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();

	archive_write_set_format_pax(a);
	archive_write_add_filter_zstd(a);
	assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
	archive_entry_set_pathname(entry, "good");
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, 2);
	archive_write_header(a, entry);
	archive_write_data(a, "ok", 2);
	archive_entry_clear(entry);
	archive_entry_set_pathname(entry, e->name);
	archive_entry_set_filetype(entry, e->type);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, 0);
	if (e->link)
		archive_entry_set_symlink(entry, e->link);
	if (e->hardlink)
		archive_entry_set_hardlink(entry, e->hardlink);
	archive_write_header(a, entry);
	archive_entry_free(entry);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
}

static void hostile_archives_are_refused_whole(void **state)
{
	static const struct evil evils[] = {
	        {"../escape", AE_IFREG, NULL, NULL,
	                "entry \"../escape\" leaves the folder: refused"},
	        {"a/../../escape", AE_IFREG, NULL, NULL, "leaves the folder: refused"},
	        {"a/../b", AE_IFREG, NULL, NULL, "leaves the folder: refused"},
	        {"/tmp/absolute", AE_IFREG, NULL, NULL, "has an absolute name: refused"},
	        {"link", AE_IFLNK, "/etc/passwd", NULL, "is a link to the outside: refused"},
	        {"link", AE_IFLNK, "../outside", NULL, "is a link to the outside: refused"},
	        {"a/link", AE_IFLNK, "../../outside", NULL, "is a link to the outside: refused"},
	        {"hard", AE_IFREG, NULL, "/etc/passwd", "is a hard link: refused"},
	        {"device", AE_IFCHR, NULL, NULL, "is not a file, folder or link: refused"},
	        {"pipe", AE_IFIFO, NULL, NULL, "is not a file, folder or link: refused"},
	};

	for (size_t i = 0; i < sizeof evils / sizeof *evils; i++) {
		make_evil(in("evil.tar.zst"), &evils[i]);
		assert_int_equal(
		        tk_archive_extract(in("evil.tar.zst"), in("dst"), 1 << 20, &err), TK_EDATA);
		if (!strstr(err.message, evils[i].expected))
			fail_msg("expected: %s\ngot: %s", evils[i].expected, err.message);
		assert_false(tk_dir_exists(in("dst"))); /* not even the good entry */
		assert_false(tk_file_exists(in("escape")));
	}
}

/* A link inside the folder that a later entry writes through: allowed as a link, refused as a way.
 */
static void writing_through_a_link_is_refused(void **state)
{
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();

	archive_write_set_format_pax(a);
	archive_write_add_filter_zstd(a);
	archive_write_open_filename(a, in("through.tar.zst"));
	archive_entry_set_pathname(e, "way");
	archive_entry_set_filetype(e, AE_IFLNK);
	archive_entry_set_symlink(e, "elsewhere");
	archive_write_header(a, e);
	archive_entry_clear(e);
	archive_entry_set_pathname(e, "way/file");
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_size(e, 1);
	archive_write_header(a, e);
	archive_write_data(a, "x", 1);
	archive_entry_free(e);
	archive_write_close(a);
	archive_write_free(a);
	tk_dir_create(in("dst/elsewhere"), &err);
	assert_int_equal(
	        tk_archive_extract(in("through.tar.zst"), in("dst"), 1 << 20, &err), TK_EDATA);
	assert_false(tk_file_exists(in("dst/elsewhere/file")));
}

static void damaged_archives(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	char *junk = malloc(50000);

	tk_dir_create(in("src"), &err);
	for (int i = 0; i < 50000; i++)
		junk[i] = (char)((unsigned)i * 2654435761u >> 13);
	assert_int_equal(tk_file_write_nosync(in("src/junk"), junk, 50000, &err), TK_OK);
	assert_int_equal(tk_archive_write(in("a.tar.zst"), in("src"), NULL, &err), TK_OK);
	assert_int_equal(tk_file_read(in("a.tar.zst"), 0, &b, &err), TK_OK);
	assert_int_equal(tk_file_write_nosync(in("cut.tar.zst"), b.data, b.len / 2, &err), TK_OK);
	assert_int_equal(tk_archive_extract(in("cut.tar.zst"), in("dst"), 1 << 20, &err), TK_EDATA);
	assert_false(tk_dir_exists(in("dst")));
	put("text.tar.zst", "this is no archive");
	assert_int_equal(
	        tk_archive_extract(in("text.tar.zst"), in("dst"), 1 << 20, &err), TK_EDATA);
	assert_int_equal(
	        tk_archive_extract(in("missing.tar.zst"), in("dst"), 1 << 20, &err), TK_ENOTFOUND);
	assert_int_equal(
	        tk_archive_write(in("none/a.tar.zst"), in("src"), NULL, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "none/a.tar.zst: No such file"));
	assert_null(strstr(err.message, ".tmp"));
	tk_buf_free(&b);
	free(junk);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        T(too_deep),
	        T(too_dense),
	        T(blob_round_trip),
	        T(archive_round_trip),
	        T(hostile_archives_are_refused_whole),
	        T(writing_through_a_link_is_refused),
	        T(damaged_archives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
