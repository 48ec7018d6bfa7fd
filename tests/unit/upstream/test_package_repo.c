/* Versions of a package as revisions: which are listed, in which order, and what is known of each;
 * against a small index of one's own. */
#include "server.h"

#include "base/error.h"
#include "base/file.h"
#include "upstream/package.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define WHEEL(version, day, more) \
	"{\"filename\":\"pkg-" version "-py3-none-any.whl\",\"url\":\"pkg-" version \
	".whl\",\"hashes\":{\"sha256\":\"" HASH "\"},\"upload-time\":\"2026-11-" day \
	"T00:00:00Z\"" more "}"
#define DAY_1 INT64_C(1793491200) /* 2026-11-01 */
#define DAY_S 86400

static const char page[] = "{\"files\":[" WHEEL("1.9", "01", "") "," WHEEL(
        "1.10", "02", "") "," WHEEL("2.0rc1", "03", "") "," WHEEL("2.0", "04",
        ",\"yanked\":true") ","
                            "{\"filename\":\"pkg-2.1.tar.gz\",\"url\":\"x\",\"hashes\":{\"sha256\":"
                            "\"" HASH "\"}}," WHEEL("2.2", "06", ",\"core-metadata\":true") "]}";

struct index {
	char folder[64], answer[8192], metadata[256];
	struct server server;
	struct tk_repo repo;
};

static int setup(void **state)
{
	static const char text[] = "Metadata-Version: 2.1\nSummary: Fast things\nAuthor: x\n";
	struct index *x = calloc(1, sizeof *x);

	assert_non_null(x);
	strcpy(x->folder, "/tmp/tracker-index-XXXXXX");
	assert_non_null(mkdtemp(x->folder));
	snprintf(x->answer, sizeof x->answer,
	        "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
	        strlen(page), page);
	snprintf(x->metadata, sizeof x->metadata,
	        "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
	        strlen(text), text);
	x->repo = (struct tk_repo){.kind = TK_REPO_PACKAGE,
	        .name = "up",
	        .package = "Pkg",
	        .cache_dir = x->folder,
	        .deadline_s = 20};
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct index *x = *state;

	if (x->server.pid)
		stop(&x->server);
	tk_dir_remove(x->folder, NULL);
	free(x);
	return 0;
}

/* The index gives these answers in turn, the last one for ever. */
static void serve_answers(struct index *x, const char *const *answers)
{
	x->server = start(answers);
	x->repo.url = x->server.origin;
}

static void check_listed(
        struct index *x, size_t limit, size_t every, int64_t since_s, const char *expected)
{
	struct tk_revision *list;
	struct tk_error err = {0};
	size_t count;
	char got[256] = "";

	if (tk_package_list_revisions(&x->repo, limit, every, since_s, &list, &count, &err))
		fail_msg("%s", err.message);
	for (size_t i = 0; i < count; i++) {
		char one[64];

		snprintf(one, sizeof one, "%s%.20s@%lld<%.20s", i ? " " : "", list[i].id,
		        (long long)list[i].position, list[i].parent);
		strncat(got, one, sizeof got - strlen(got) - 1);
	}
	assert_string_equal(got, expected);
	free(list);
}

/* Newest first. Positions count all versions, the parent is the one that is listed before. */
static void versions_are_revisions(void **state)
{
	struct index *x = *state;

	serve_answers(x, (const char *const[]){x->answer, NULL});
	check_listed(x, 0, 0, 0, "2.2@5<1.10 1.10@2<1.9 1.9@1<");
	check_listed(x, 2, 0, 0, "2.2@5<1.10 1.10@2<1.9");
	check_listed(x, 0, 2, 0, "2.2@5<1.10 1.9@1<");
	check_listed(x, 0, 0, DAY_1 + DAY_S, "2.2@5<1.10 1.10@2<1.9");
	check_listed(x, 0, 0, DAY_1 + DAY_S + 1, "2.2@5<1.10");
	x->repo.pre = true;
	check_listed(x, 0, 0, 0, "2.2@5<2.0rc1 2.0rc1@3<1.10 1.10@2<1.9 1.9@1<");
}

static void the_newest_version_has_its_summary(void **state)
{
	struct index *x = *state;
	struct tk_revision r;
	struct tk_error err = {0};

	serve_answers(x, (const char *const[]){x->answer, x->metadata, NULL});
	if (tk_package_find_newest(&x->repo, &r, &err))
		fail_msg("%s", err.message);
	assert_string_equal(r.id, "2.2");
	assert_string_equal(r.parent, "1.10");
	assert_string_equal(r.subject, "Pkg 2.2: Fast things");
	assert_int_equal(r.commit_time_s, DAY_1 + 5 * DAY_S);
	assert_int_equal(r.author_time_s, DAY_1 + 5 * DAY_S);
	assert_int_equal(r.position, 5);
}

static void a_version_is_found_by_name(void **state)
{
	struct index *x = *state;
	struct tk_revision r;
	struct tk_error err = {0};

	serve_answers(x, (const char *const[]){x->answer, NULL});
	assert_int_equal(tk_package_find_revision(&x->repo, "1.10", &r, &err), 0);
	assert_int_equal(r.position, 2);
	assert_string_equal(r.parent, "1.9");
	assert_string_equal(r.subject, "Pkg 1.10");
	/* a version that is named may be a pre-release, or yanked since */
	assert_int_equal(tk_package_find_revision(&x->repo, "2.0rc1", &r, &err), 0);
	assert_int_equal(r.position, 3);
	assert_int_equal(tk_package_find_revision(&x->repo, "3.0", &r, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "3.0"));
}

static void versions_are_numbered(void **state)
{
	static const char *const versions[] = {"2.2", "1.9", "7.7", "2.0"};
	struct index *x = *state;
	int64_t positions[] = {-1, -1, -1, -1};
	struct tk_error err = {0};

	serve_answers(x, (const char *const[]){x->answer, NULL});
	assert_int_equal(tk_package_number_versions(&x->repo, versions, 4, positions, &err), 0);
	assert_int_equal(positions[0], 5);
	assert_int_equal(positions[1], 1);
	assert_int_equal(positions[2], -1); /* unknown: as it was */
	assert_int_equal(positions[3], 4);
}

/* A named version is looked up in the last answer while the index cannot be reached; what is newest
 * is not. */
static void the_last_answer_helps_with_named_versions(void **state)
{
	struct index *x = *state;
	struct tk_revision r;
	struct tk_error err = {0};
	struct tk_revision *list;
	size_t count;

	serve_answers(x, (const char *const[]){x->answer, NULL});
	check_listed(x, 1, 0, 0, "2.2@5<1.10");
	stop(&x->server);
	x->server.pid = 0;
	assert_int_equal(tk_package_find_revision(&x->repo, "1.10", &r, &err), 0);
	assert_int_equal(r.position, 2);
	assert_int_equal(tk_package_list_revisions(&x->repo, 0, 0, 0, &list, &count, &err), TK_EIO);
	assert_true(strncmp(err.message, "up: ", 4) == 0);
}

static void the_page_is_asked_for_as_json(void **state)
{
	struct index *x = *state;
	char url[96], asked[4096];

	serve_answers(x, (const char *const[]){x->answer, NULL});
	snprintf(url, sizeof url, "%s/simple/", x->server.origin);
	x->repo.url = url;
	check_listed(x, 1, 0, 0, "2.2@5<1.10");
	const ssize_t n = read(x->server.requests, asked, sizeof asked - 1);
	assert_true(n > 0);
	asked[n] = '\0';
	assert_true(strncmp(asked, "GET /simple/pkg/ HTTP/1.1\r\n", 27) == 0);
	assert_non_null(strcasestr(asked, "Accept: application/vnd.pypi.simple.v1+json\r\n"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(versions_are_revisions),
	        TEST(the_newest_version_has_its_summary),
	        TEST(a_version_is_found_by_name),
	        TEST(versions_are_numbered),
	        TEST(the_last_answer_helps_with_named_versions),
	        TEST(the_page_is_asked_for_as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
