/* Places for histories: which URLs are ones, what is asked of the server, and what of its list of
 * objects is believed. */
#include "server.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "upstream/remote.h"

static int clear_environment(void **state)
{
	(void)state;
	unsetenv("AWS_SESSION_TOKEN");
	unsetenv("AWS_REGION");
	unsetenv("AWS_ENDPOINT_URL");
	setenv("AWS_ACCESS_KEY_ID", "key", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	return 0;
}

/* 0, or the status with a message that has the phrase. */
static void check_open(const char *url, int expected, const char *phrase)
{
	struct tk_remote *r = NULL;
	struct tk_error err = {0};
	int status = tk_remote_open(url, &r, &err);

	if (status != expected)
		fail_msg("%s: %d instead of %d: %s", url, status, expected, err.message);
	if (phrase && !strstr(err.message, phrase))
		fail_msg("%s: no \"%s\" in \"%s\"", url, phrase, err.message);
	assert_true(!status == (r != NULL));
	tk_remote_close(r);
}

static void urls_of_places(void **state)
{
	static const struct {
		const char *url;
		int status;
		const char *phrase;
	} cases[] = {{"https://h/a", 0, NULL}, {"http://h:8080/a/b/", 0, NULL},
	        {"https://h/a/x.tar.zst", 0, NULL}, {"s3://bucket", 0, NULL},
	        {"s3://bucket/folder/sub", 0, NULL}, {"s3://bucket/x.tar.zst", 0, NULL},
	        {"ftp://h/a", TK_EUSAGE, "cannot hold histories"},
	        {"/a/folder", TK_EUSAGE, "cannot hold histories"},
	        {"https://h/a b", TK_EUSAGE, "expected letters, digits"},
	        {"https://h/a?x=1", TK_EUSAGE, "expected letters, digits"},
	        {"https://user@h/a", TK_EUSAGE, "expected letters, digits"},
	        {"https://h/../a", TK_EUSAGE, "no part that begins with a dot"},
	        {"https://h/.a", TK_EUSAGE, "no part that begins with a dot"},
	        {"https://h/.tar.zst", TK_EUSAGE, "no part that begins with a dot"},
	        {"s3:///folder", TK_EUSAGE, "expected s3://BUCKET/FOLDER"},
	        {"s3://bucket.tar.zst/a", TK_EUSAGE, "expected s3://BUCKET/FOLDER"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_open(cases[i].url, cases[i].status, cases[i].phrase);
}

static void names_end_at_128_bytes(void **state)
{
	char url[256];

	(void)state;
	for (int len = TK_REMOTE_NAME_MAX - 1; len <= TK_REMOTE_NAME_MAX; len++) {
		snprintf(url, sizeof url, "https://h/%0*d.tar.zst", len, 7);
		check_open(url, len < TK_REMOTE_NAME_MAX ? 0 : TK_EUSAGE,
		        len < TK_REMOTE_NAME_MAX ? NULL : "not the name of an object");
	}
}

static void buckets_need_credentials(void **state)
{
	(void)state;
	unsetenv("AWS_SECRET_ACCESS_KEY");
	check_open("s3://bucket", TK_ECONFIG, "AWS_SECRET_ACCESS_KEY is not set");
	setenv("AWS_ACCESS_KEY_ID", "", 1);
	check_open("s3://bucket", TK_ECONFIG, "AWS_ACCESS_KEY_ID is not set");
	check_open("https://h/a", 0, NULL); /* needs none */
}

static void endpoints_are_plain_addresses(void **state)
{
	static const char *const bad[] = {"h", "ftp://h", "https://h/", "https://", "https:///x",
	        "https://h?x", "https://h/../x"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		setenv("AWS_ENDPOINT_URL", bad[i], 1);
		check_open("s3://bucket", TK_ECONFIG, "AWS_ENDPOINT_URL is");
	}
	setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000", 1);
	check_open("s3://bucket", 0, NULL);
}

static void a_url_may_name_one_object(void **state)
{
	struct tk_remote *r;
	char **names;
	size_t count;

	(void)state;
	assert_int_equal(tk_remote_open("https://h/a/x-1.tar.zst", &r, NULL), 0);
	assert_true(tk_remote_is_object(r));
	assert_int_equal(tk_remote_list(r, &names, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_string_equal(names[0], "x-1");
	tk_names_free(names, count);
	tk_remote_close(r);
	assert_int_equal(tk_remote_open("https://h/a", &r, NULL), 0);
	assert_false(tk_remote_is_object(r));
	assert_int_equal(tk_remote_list(r, &names, &count, NULL), TK_EUSAGE);
	tk_remote_close(r);
}

/* ---- lists ---- */

/* The names of an answer, separated by blanks; a message where it is refused. */
static void check_list(const char *url, const char *xml, const char *expected)
{
	char answer[2048], got[512] = "";
	struct tk_remote *r;
	struct tk_error err = {0};
	char **names;
	size_t count;

	snprintf(answer, sizeof answer,
	        "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
	        strlen(xml), xml);
	const struct server s = start((const char *const[]){answer, NULL});
	setenv("AWS_ENDPOINT_URL", s.origin, 1);
	assert_int_equal(tk_remote_open(url, &r, &err), 0);
	if (tk_remote_list(r, &names, &count, &err)) {
		snprintf(got, sizeof got, "%.500s", err.message);
	} else {
		for (size_t i = 0; i < count; i++)
			snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
			        names[i]);
		tk_names_free(names, count);
	}
	if (strcmp(got, expected) != 0)
		fail_msg("%s\n\"%s\" instead of \"%s\"", xml, got, expected);
	tk_remote_close(r);
	stop(&s);
}

#define LIST(keys) "<ListBucketResult>" keys "</ListBucketResult>"
#define KEY(key) "<Contents><Key>" key "</Key></Contents>"

static void what_is_believed_of_a_list(void **state)
{
	static const struct {
		const char *url, *xml, *names;
	} cases[] = {
	        {"s3://b/f", LIST(KEY("f/z.tar.zst") KEY("f/a.tar.zst")), "a z"},
	        {"s3://b", LIST(KEY("z.tar.zst") KEY("f/a.tar.zst")), "z"},
	        {"s3://b/f", LIST(""), ""},
	        {"s3://b/f", LIST(KEY("f/") KEY("f/x.zip") KEY("g/y.tar.zst") KEY("f/.tar.zst")),
	                ""},
	        {"s3://b/f", LIST(KEY("f/a/b.tar.zst") KEY("f/&amp;.tar.zst") KEY("f/.a.tar.zst")),
	                ""},
	        {"s3://b/f", LIST("<Key>f/a.tar.zst"), "the server's list of objects is cut off"},
	        {"s3://b/f", LIST("<IsTruncated>true</IsTruncated>"),
	                "the folder has more than 1000 objects; expected one for each machine"},
	        {"s3://b/f", LIST("<IsTruncated>false</IsTruncated>" KEY("f/a.tar.zst")), "a"},
	        {"s3://b/f", "<html>", "the server's answer is not a list of objects"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_list(cases[i].url, cases[i].xml, cases[i].names);
}

/* ---- requests ---- */

/* What the server was asked until now. */
static const char *requests_of(const struct server *s, char out[8192])
{
	ssize_t n = read(s->requests, out, 8191);

	assert_true(n >= 0);
	out[n] = '\0';
	return out;
}

static void a_bucket_is_asked_with_a_signature(void **state)
{
	static const char list[] = LIST("");
	char answer[256], asked[8192];
	struct tk_remote *r;
	char **names;
	size_t count;

	(void)state;
	snprintf(answer, sizeof answer,
	        "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
	        strlen(list), list);
	const struct server s = start((const char *const[]){answer, NULL});
	setenv("AWS_ENDPOINT_URL", s.origin, 1);
	setenv("AWS_REGION", "eu-north-7", 1);
	setenv("AWS_SESSION_TOKEN", "guest", 1);
	assert_int_equal(tk_remote_open("s3://b/f/g", &r, NULL), 0);
	assert_int_equal(tk_remote_list(r, &names, &count, NULL), 0);
	tk_names_free(names, count);
	requests_of(&s, asked);
	assert_non_null(strstr(asked,
	        "GET /b?delimiter=%2F&list-type=2&max-keys=1000&prefix=f%2Fg%2F HTTP/1.1\r\n"));
	assert_non_null(strcasestr(asked, "Authorization: AWS4-HMAC-SHA256 Credential=key/"));
	assert_non_null(strstr(asked, "/eu-north-7/s3/aws4_request"));
	assert_non_null(strcasestr(asked, "x-amz-security-token: guest\r\n"));
	/* of a request without a body */
	assert_non_null(strcasestr(asked, "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb924"
	                                  "27ae41e4649b934ca495991b7852b855\r\n"));
	assert_null(strstr(asked, "secret"));
	tk_remote_close(r);
	stop(&s);
}

static void objects_are_put_and_got(void **state)
{
	char folder[] = "/tmp/tracker-remote-XXXXXX", file[64], back[64], url[96], asked[8192];
	struct tk_remote *r;
	struct tk_error err = {0};
	struct tk_buf text = TK_BUF_INIT;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof file, "%s/file", folder);
	snprintf(back, sizeof back, "%s/back", folder);
	assert_int_equal(tk_file_write(file, "packed", 6, &err), 0);
	const struct server s =
	        start((const char *const[]){SERVER_OK("", "0"), SERVER_OK("packed", "6"), NULL});
	snprintf(url, sizeof url, "%s/up", s.origin);
	assert_int_equal(tk_remote_open(url, &r, &err), 0);
	assert_int_equal(tk_remote_put(r, "a/b", file, &err), TK_EUSAGE);
	assert_int_equal(tk_remote_put(r, "", file, &err), TK_EUSAGE);
	if (tk_remote_put(r, "node-1", file, &err))
		fail_msg("%s", err.message);
	requests_of(&s, asked);
	assert_true(strncmp(asked, "PUT /up/node-1.tar.zst HTTP/1.1\r\n", 33) == 0);
	assert_non_null(strstr(asked, "\r\n\r\npacked"));
	assert_null(strcasestr(asked, "x-amz-"));
	if (tk_remote_get(r, "node-1", back, 6, &err))
		fail_msg("%s", err.message);
	requests_of(&s, asked);
	assert_true(strncmp(asked, "GET /up/node-1.tar.zst HTTP/1.1\r\n", 33) == 0);
	assert_int_equal(tk_file_read(back, 100, &text, &err), 0);
	assert_string_equal(tk_buf_cstr(&text), "packed");
	assert_int_equal(tk_remote_put(r, "node-1", "/nonexistent", &err), TK_ENOTFOUND);
	tk_buf_free(&text);
	tk_remote_close(r);
	stop(&s);
	assert_int_equal(tk_dir_remove(folder, &err), 0);
}

/* The hash of the body is part of the signature. */
static void the_body_is_signed(void **state)
{
	char file[] = "/tmp/tracker-remote-XXXXXX", asked[8192];
	struct tk_remote *r;
	struct tk_error err = {0};
	const int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0 && write(fd, "abc", 3) == 3);
	close(fd);
	const struct server s = start((const char *const[]){SERVER_OK("", "0"), NULL});
	setenv("AWS_ENDPOINT_URL", s.origin, 1);
	assert_int_equal(tk_remote_open("s3://b/f/one.tar.zst", &r, &err), 0);
	if (tk_remote_put(r, "not used", file, &err))
		fail_msg("%s", err.message);
	requests_of(&s, asked);
	assert_non_null(strstr(asked, "PUT /b/f/one.tar.zst HTTP/1.1\r\n"));
	/* SHA-256 of "abc" (FIPS 180-2) */
	assert_non_null(strcasestr(asked, "x-amz-content-sha256: ba7816bf8f01cfea414140de5dae2223b0"
	                                  "0361a396177a9cb410ff61f20015ad\r\n"));
	tk_remote_close(r);
	stop(&s);
	unlink(file);
}

#define TEST(f) cmocka_unit_test_setup(f, clear_environment)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(urls_of_places),
	        TEST(names_end_at_128_bytes),
	        TEST(buckets_need_credentials),
	        TEST(endpoints_are_plain_addresses),
	        TEST(a_url_may_name_one_object),
	        TEST(what_is_believed_of_a_list),
	        TEST(a_bucket_is_asked_with_a_signature),
	        TEST(objects_are_put_and_got),
	        TEST(the_body_is_signed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
