/* Posting JSON, against a small real server in a child process. */
#include "server.h"

#include "base/buf.h"
#include "base/error.h"
#include "upstream/http.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void posts(void **state)
{
	const char *const headers[] = {"X-Key: 7", NULL};
	const struct tk_http_options options = {.deadline_s = 20, .headers = headers};
	const struct server s = start((const char *const[]){"echo", NULL});
	struct tk_error err = {0};
	long code = 0;
	assert_int_equal(tk_http_post_json(s.url, "{\"a\":1}", &options, &code, &err), TK_OK);
	assert_int_equal(code, 200);
	assert_int_equal(tk_http_post_json(s.url, "{}", &options, &code, &err), TK_EIO);
	assert_string_equal(err.message, "127.0.0.1 answered 400: wrong");
	assert_int_equal(code, 400);
	stop(&s);
}

static void retries(void **state)
{
	const char *const headers[] = {"X-Key: 7", NULL};
	const struct tk_http_options options = {.deadline_s = 20, .retries = 2, .headers = headers},
	                             none = {.deadline_s = 20};
	const struct server s =
	        start((const char *const[]){SERVER_BUSY, SERVER_BUSY, "echo", NULL});
	struct tk_error err = {0};
	assert_int_equal(tk_http_post_json(s.url, "{\"a\":1}", &none, NULL, &err), TK_EIO);
	assert_string_equal(err.message, "127.0.0.1 answered 503");
	assert_int_equal(tk_http_post_json(s.url, "{\"a\":1}", &options, NULL, &err), TK_OK);
	stop(&s);
}

/* A webhook that answers, and whose answer is cut off, was posted to. A page is read again. */
static void cut_answers(void **state)
{
	static const char cut[] = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort";
	static const char whole[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: "
	                            "close\r\n\r\nok";
	const struct tk_http_options options = {.deadline_s = 20, .retries = 2};
	struct tk_error err = {0};
	struct tk_buf page = TK_BUF_INIT;
	long code = 0;
	const struct server post = start((const char *const[]){cut, whole, NULL});
	assert_int_equal(tk_http_post_json(post.url, "{}", &options, &code, &err), TK_EIO);
	stop(&post);
	const struct server get = start((const char *const[]){cut, whole, NULL});
	assert_int_equal(tk_http_get(get.url, 100, &options, &page, &err), TK_OK);
	assert_string_equal(tk_buf_cstr(&page), "ok");
	tk_buf_free(&page);
	stop(&get);
}

static void failures(void **state)
{
	const struct tk_http_options quick = {.deadline_s = 1};
	struct tk_error err = {0};
	long code = -1;
	const struct server hang = start((const char *const[]){"hang", NULL});
	assert_int_equal(tk_http_post_json(hang.url, "{}", &quick, &code, &err), TK_ETIMEOUT);
	assert_string_equal(err.message, "127.0.0.1 did not answer in time");
	stop(&hang);
	assert_int_equal(tk_http_post_json(hang.url, "{}", &quick, &code, &err), TK_EIO);
	assert_non_null(strstr(err.message, "cannot post to 127.0.0.1"));
	assert_null(strstr(err.message, "SECRET"));
	assert_int_equal(code, 0);
	assert_int_equal(
	        tk_http_post_json("file:///etc/passwd", "{}", &quick, &code, &err), TK_ECONFIG);
	assert_int_equal(tk_http_post_json("ftp://h/x", "{}", &quick, &code, &err), TK_ECONFIG);
	assert_string_equal(err.message,
	        "the scheme \"ftp\" of the webhook's URL is not allowed; expected https or http");
	assert_int_equal(tk_http_post_json("not a url", "{}", &quick, &code, &err), TK_ECONFIG);
	assert_string_equal(
	        err.message, "the webhook's URL is malformed; expected https://host/path");
	const struct server redirect = start((const char *const[]){
	        "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: "
	        "0\r\nConnection: close\r\n\r\n",
	        NULL});
	assert_int_equal(tk_http_post_json(redirect.url, "{}", &quick, &code, &err), TK_EIO);
	assert_string_equal(err.message, "127.0.0.1 redirects to a protocol that is not allowed");
	stop(&redirect);
}

#define ANSWER(body, says) "HTTP/1.1 200 OK\r\nContent-Length: " says "\r\n\r\n" body

static long size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) ? -1 : (long)st.st_size;
}

/* The attempt before leaves nothing behind, a failure no file. */
static void files(void **state)
{
	const struct tk_http_options options = {.deadline_s = 20, .retries = 2}, none = {0};
	char folder[] = "/tmp/tracker-http-XXXXXX", file[64], other[64];
	struct tk_error err = {0};
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof file, "%s/a", folder);
	snprintf(other, sizeof other, "%s/b", folder);
	const struct server s = start((const char *const[]){
	        ANSWER("cut off early", "99"), SERVER_BUSY, ANSWER("whole", "5"), NULL});
	assert_int_equal(tk_http_get_file(s.url, file, 100, &options, &err), TK_OK);
	assert_int_equal(size_of(file), 5);
	assert_int_equal(tk_http_get_file(s.url, file, 100, &none, &err), TK_EIO); /* is there */
	assert_int_equal(tk_http_get_file(s.url, other, 4, &none, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "has more than 4 bytes"));
	assert_int_equal(size_of(other), -1);
	stop(&s);
	const struct server cut = start((const char *const[]){ANSWER("short", "99"), NULL});
	assert_int_equal(tk_http_get_file(cut.url, other, 100, &none, &err), TK_EIO);
	assert_int_equal(size_of(other), -1);
	stop(&cut);
	const struct server put = start((const char *const[]){SERVER_BUSY, ANSWER("", "0"), NULL});
	assert_int_equal(tk_http_put_file(put.url, file, &options, &err), TK_OK);
	stop(&put);
	const struct server no = start((const char *const[]){
	        "HTTP/1.1 403 No\r\nContent-Length: 5\r\nConnection: close\r\n\r\nnever", NULL});
	assert_int_equal(tk_http_put_file(no.url, file, &options, &err), TK_EIO);
	assert_string_equal(err.message, "127.0.0.1 answered 403: never");
	assert_int_equal(tk_http_put_file(no.url, other, &options, &err), TK_ENOTFOUND);
	stop(&no);
	unlink(file);
	rmdir(folder);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {cmocka_unit_test(posts), cmocka_unit_test(retries),
	        cmocka_unit_test(cut_answers), cmocka_unit_test(failures), cmocka_unit_test(files)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
