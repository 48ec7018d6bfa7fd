/* The folder of the site: what stays, what is replaced, and what is never touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "site_gen/render/output.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
	char *root, *site;
	struct tk_error err;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof *p);
	assert_int_equal(tk_dir_create_temp("/tmp", "tk-site-", &p->root, &p->err), 0);
	p->site = tk_path_join(p->root, "site");
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;
	tk_dir_remove(p->root, NULL);
	free(p->root);
	free(p->site);
	free(p);
	return 0;
}

static void put(struct tk_output *o, const char *path, const char *text)
{
	struct tk_error err;
	struct tk_buf b = TK_BUF_INIT;
	tk_buf_add_str(&b, text);
	assert_int_equal(tk_output_put(o, path, &b, &err), 0);
	tk_buf_free(&b);
}

static void write_site(struct place *p, const char *a, const char *b)
{
	struct tk_output *o = NULL;
	assert_int_equal(tk_output_open(p->site, &o, &p->err), 0);
	put(o, TK_SITE_MARKER, "{}");
	put(o, "a.html", a);
	if (b)
		put(o, "sub/b.html", b);
	assert_int_equal(tk_output_commit(o, &p->err), 0);
	tk_output_free(o);
}

static ino_t inode(const struct place *p, const char *name)
{
	struct stat st;
	char *path = tk_path_join(p->site, name);
	ino_t number = stat(path, &st) ? 0 : st.st_ino;
	free(path);
	return number;
}

static void keeps_equal_files(void **state)
{
	struct place *p = *state;
	write_site(p, "one", "two");
	ino_t a = inode(p, "a.html"), b = inode(p, "sub/b.html");
	write_site(p, "one", "TWO");
	assert_int_equal(inode(p, "a.html"), a);
	assert_int_not_equal(inode(p, "sub/b.html"), b);
	write_site(p, "one", NULL);
	assert_int_equal(inode(p, "sub/b.html"), 0);
	char **names;
	size_t count;
	assert_int_equal(tk_dir_list(p->root, &names, &count, &p->err), 0);
	assert_int_equal(count, 1); /* nothing is left beside the site */
	tk_names_free(names, count);
}

static void refuses_a_foreign_folder(void **state)
{
	struct place *p = *state;
	assert_int_equal(tk_dir_create(p->site, &p->err), 0);
	char *precious = tk_path_join(p->site, "thesis.tex");
	assert_int_equal(tk_file_write(precious, "x", 1, &p->err), 0);
	struct tk_output *o = NULL;
	assert_int_equal(tk_output_open(p->site, &o, &p->err), TK_EUSAGE);
	assert_non_null(strstr(p->err.message, "is not empty and not a site"));
	assert_true(tk_file_exists(precious));
	free(precious);
}

static void refuses_a_file(void **state)
{
	struct place *p = *state;
	assert_int_equal(tk_file_write(p->site, "x", 1, &p->err), 0);
	struct tk_output *o = NULL;
	assert_int_equal(tk_output_open(p->site, &o, &p->err), TK_EUSAGE);
	assert_non_null(strstr(p->err.message, " is not a folder"));
}

static void leaves_the_old_site_without_commit(void **state)
{
	struct place *p = *state;
	write_site(p, "one", "two");
	struct tk_output *o = NULL, *second = NULL;
	assert_int_equal(tk_output_open(p->site, &o, &p->err), 0);
	put(o, "a.html", "new");
	assert_int_equal(tk_output_open(p->site, &second, &p->err), TK_EBUSY);
	assert_non_null(strstr(p->err.message, "another process is writing a site into "));
	assert_true(tk_output_keep(o, "sub/b.html"));
	assert_false(tk_output_keep(o, "sub/c.html"));
	tk_output_free(o);
	struct tk_buf text = TK_BUF_INIT;
	char *path = tk_path_join(p->site, "a.html");
	assert_int_equal(tk_file_read(path, 100, &text, &p->err), 0);
	assert_string_equal(tk_buf_cstr(&text), "one");
	tk_buf_free(&text);
	free(path);
}

/* A site that is gone on with: what is not put stays, what is equal is not touched, what is dropped
 * is gone. */
static struct tk_output *go_on(struct place *p)
{
	struct tk_output *o = NULL;
	assert_int_equal(tk_output_open(p->site, &o, &p->err), 0);
	tk_output_resume(o, 3, 8);
	return o;
}

static void assert_text(const struct place *p, const char *name, const char *expected)
{
	struct tk_buf text = TK_BUF_INIT;
	char *path = tk_path_join(p->site, name);
	assert_int_equal(tk_file_read(path, 1000, &text, NULL), 0);
	assert_string_equal(tk_buf_cstr(&text), expected);
	tk_buf_free(&text);
	free(path);
}

static void goes_on(void **state)
{
	struct place *p = *state;
	write_site(p, "one", "two");
	ino_t a = inode(p, "a.html");
	struct tk_output *o = go_on(p);
	put(o, "a.html", "one");
	put(o, "new/c.html", "three");
	put(o, TK_SITE_MARKER, "{ }");
	assert_text(p, TK_SITE_MARKER, "{}"); /* not before the end */
	assert_int_equal(inode(p, "new/c.html"), 0);
	assert_int_equal(tk_output_drop(o, "sub/b.html", &p->err), 0);
	assert_int_equal(tk_output_drop(o, "sub/none.html", &p->err), 0);
	struct tk_output_counts counts = tk_output_counts(o);
	assert_int_equal(counts.files, 3); /* one more, one less */
	assert_int_equal(counts.written, 2);
	assert_int_equal(counts.bytes, 8 + 5 - 3 + 1);
	assert_int_equal(tk_output_commit(o, &p->err), 0);
	tk_output_free(o);
	assert_int_equal(inode(p, "a.html"), a);
	assert_int_equal(inode(p, "sub/b.html"), 0);
	assert_text(p, "new/c.html", "three");
	assert_text(p, TK_SITE_MARKER, "{ }");
	char **names;
	size_t count;
	assert_int_equal(tk_dir_list(p->root, &names, &count, &p->err), 0);
	assert_int_equal(count, 1); /* nothing is left beside the site */
	tk_names_free(names, count);
}

static void writes_nothing_where_nothing_is_new(void **state)
{
	struct place *p = *state;
	write_site(p, "one", "two");
	ino_t marker = inode(p, TK_SITE_MARKER);
	struct tk_output *o = go_on(p);
	put(o, "a.html", "one");
	put(o, TK_SITE_MARKER, "{}");
	assert_int_equal(tk_output_commit(o, &p->err), 0);
	assert_int_equal(tk_output_counts(o).written, 0);
	tk_output_free(o);
	assert_int_equal(inode(p, TK_SITE_MARKER), marker);
}

/* The marker says that the site is not finished while files move, and what it said before where
 * that is the same. */
static void comes_back_to_the_same_marker(void **state)
{
	struct place *p = *state;
	write_site(p, "one", "two");
	struct tk_output *o = go_on(p);
	put(o, "a.html", "ONE");
	put(o, TK_SITE_MARKER, "{}");
	assert_int_equal(tk_output_commit(o, &p->err), 0);
	assert_int_equal(tk_output_counts(o).written, 1);
	tk_output_free(o);
	assert_text(p, "a.html", "ONE");
	assert_text(p, TK_SITE_MARKER, "{}");
}

/* The step that fails leaves the word behind that the site is a mixture. */
static void says_that_it_is_not_finished(void **state)
{
	struct place *p = *state;
	write_site(p, "one", "two");
	struct tk_output *o = go_on(p);
	put(o, "a.html", "ONE");
	put(o, TK_SITE_MARKER, "{ }");
	put(o, "sub/c.html", "three");
	char *folder = tk_path_join(p->site, "sub"), *page = tk_path_join(p->site, "sub/b.html");
	assert_int_equal(unlink(page), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(tk_file_write(folder, "x", 1, &p->err), 0);
	assert_int_not_equal(tk_output_commit(o, &p->err), 0);
	assert_non_null(strstr(p->err.message, "sub"));
	tk_output_free(o);
	assert_text(p, TK_SITE_MARKER, TK_SITE_UNFINISHED);
	free(page);
	free(folder);
}

static void lists_a_folder(void **state)
{
	struct place *p = *state;
	char **names;
	size_t count;
	write_site(p, "one", "two");
	struct tk_output *o = go_on(p);
	assert_int_equal(tk_output_list_old(o, "sub", &names, &count, &p->err), 0);
	assert_int_equal(count, 1);
	assert_string_equal(names[0], "b.html");
	tk_names_free(names, count);
	assert_int_equal(tk_output_list_old(o, "none", &names, &count, &p->err), 0);
	assert_int_equal(count, 0);
	tk_output_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	        T(keeps_equal_files),
	        T(refuses_a_foreign_folder),
	        T(refuses_a_file),
	        T(leaves_the_old_site_without_commit),
	        T(goes_on),
	        T(writes_nothing_where_nothing_is_new),
	        T(comes_back_to_the_same_marker),
	        T(says_that_it_is_not_finished),
	        T(lists_a_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
