/* Every alert reaches every address once: an HTTP server on the loopback, a file, and a server that
 * fails. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "notify/notify.h"
#include "store/store.h"
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* The value of a word in a row of a table below; -1, which no list has, where it is unknown. */
static int word_value(const struct tk_vocabulary *v, const char *name)
{
	int value = -1;

	tk_vocabulary_parse(v, name, &value);
	return value;
}

struct place {
	char dir[64], received[96], url[64];
	struct tk_store *store;
	int64_t series, night;
	pid_t server;
};

#define MUST(call) \
	do { \
		struct tk_error err = {0}; \
		if (call) \
			fail_msg("%s: %s", #call, err.message); \
	} while (0)

static void put_alert(struct place *p, const char *bad_rev, const char *title, const char *status)
{
	struct tk_alert_row alert = {.series_id = p->series,
	        .night_id = p->night,
	        .status = word_value(&tk_alert_status_words, status),
	        .opened_s = 5,
	        .closed_s = strcmp(status, "open") ? 6 : 0,
	        .change = 0.12,
	        .cause = TK_CAUSE_CODE,
	        .good_rev = "good",
	        .bad_rev = bad_rev,
	        .title = title};

	MUST(tk_store_put_alert(p->store, &alert, &err));
}

static void fill(struct place *p)
{
	struct tk_machine_row machine = {.name = "box", .attributes = "{}"};
	struct tk_device_row device = {.kind = "cpu", .name = "cpu", .arch = "", .slug = "cpu"};
	struct tk_upstream_row upstream = {.name = "blas", .kind = "git", .url = ""};
	struct tk_problem_row problem = {
	        .text = "gemm:m=1", .op = "gemm", .dtype = "f32", .title = "gemm"};
	struct tk_series_row series = {.backend = "blas",
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE,
	        .config = ""};
	struct tk_night_row night = {.kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = 1,
	        .started_s = 1,
	        .status = TK_NIGHT_RUNNING,
	        .config_hash = "",
	        .tracker_version = ""};

	MUST(tk_store_put_machine(p->store, &machine, &night.machine_id, &err));
	device.machine_id = night.machine_id;
	MUST(tk_store_put_device(p->store, &device, &series.device_id, &err));
	MUST(tk_store_put_upstream(p->store, &upstream, &series.upstream_id, &err));
	MUST(tk_store_put_problem(p->store, &problem, &series.problem_id, &err));
	MUST(tk_store_put_series(p->store, &series, &p->series, &err));
	MUST(tk_store_begin_night(p->store, &night, &p->night, &err));
}

static void start_server(struct place *p)
{
	int fds[2];
	char line[32] = "";

	assert_int_equal(pipe(fds), 0);
	p->server = fork();
	if (p->server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], 1);
		execlp("python3", "python3", TK_SOURCE_ROOT "/tests/unit/notify/receiver.py",
		        p->received, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	assert_true(read(fds[0], line, sizeof(line) - 1) > 0);
	close(fds[0]);
	snprintf(p->url, sizeof(p->url), "http://127.0.0.1:%d/hook?secret=1", atoi(line));
}

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	char path[96];

	strcpy(p->dir, "/tmp/tracker-notify-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(path, sizeof(path), "%s/tracker.db", p->dir);
	snprintf(p->received, sizeof(p->received), "%s/received", p->dir);
	start_server(p);
	MUST(tk_store_open(path, TK_STORE_CREATE, &p->store, &err));
	fill(p);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	kill(p->server, SIGKILL);
	waitpid(p->server, NULL, 0);
	tk_store_close(p->store);
	MUST(tk_dir_remove(p->dir, &err));
	free(p);
	return 0;
}

static int notify(struct place *p, const char *url, struct tk_error *err)
{
	struct tk_notify_options options = {
	        .webhook_url = url, .site_url = "https://example.org/perf/", .night_id = p->night};

	return tk_notify_send_alerts(p->store, &options, err);
}

/* Received body number n; NULL: there are fewer. */
static json_t *body(const char *path, size_t n)
{
	struct tk_buf text = TK_BUF_INIT;
	json_t *json = NULL;

	if (tk_file_read(path, 1 << 20, &text, NULL) == 0) {
		char *line = text.data;

		for (; n && line; n--)
			line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
		if (line && *line) {
			line[strcspn(line, "\n")] = '\0';
			json = json_loads(line, 0, NULL);
			assert_non_null(json);
		}
	}
	tk_buf_free(&text);
	return json;
}

static const char *text_of(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? text : "";
}

/* An alert with a triage state is not sent. */
static void an_alert_that_was_acked_is_not_told(void **state)
{
	struct place *p = *state;
	const struct tk_triage_row said = {.alert_uid = "group-1",
	        .at_s = 7,
	        .author = "jane",
	        .action = TK_ACTION_ACK,
	        .note = ""};
	const struct tk_alert_row alert = {.uid = "alert-1",
	        .group_uid = "group-1",
	        .series_id = p->series,
	        .night_id = p->night,
	        .status = TK_ALERT_OPEN,
	        .opened_s = 5,
	        .change = 0.12,
	        .cause = TK_CAUSE_CODE,
	        .good_rev = "good",
	        .bad_rev = "bad",
	        .title = "t"};

	MUST(tk_store_put_alert(p->store, &alert, &err));
	MUST(tk_store_append_triage(p->store, &said, &err));
	MUST(notify(p, p->url, &err));
	assert_null(body(p->received, 0));
}

static void a_webhook_hears_of_every_alert_once(void **state)
{
	struct place *p = *state;

	MUST(notify(p, p->url, &err));
	assert_null(body(p->received, 0));
	put_alert(p, "bad1", "blas gemm on box: +12.0 % <b>\"quoted\"</b>", "open");
	put_alert(p, "bad2", "was closed", "closed");
	MUST(notify(p, p->url, &err));
	MUST(notify(p, p->url, &err));
	json_t *first = body(p->received, 0), *alerts = json_object_get(first, "alerts");

	assert_non_null(first);
	assert_int_equal(json_array_size(alerts), 1);
	assert_string_equal(text_of(json_array_get(alerts, 0), "bad_rev"), "bad1");
	assert_string_equal(text_of(json_array_get(alerts, 0), "title"),
	        "blas gemm on box: +12.0 % <b>\"quoted\"</b>");
	assert_string_equal(text_of(json_array_get(alerts, 0), "series"), "box.cpu.blas.gemm.cold");
	assert_string_equal(text_of(json_object_get(first, "night"), "machine"), "box");
	assert_string_equal(text_of(first, "site"), "https://example.org/perf/");
	assert_non_null(strstr(text_of(first, "text"), "1 new alert\n- blas gemm"));
	assert_null(body(p->received, 1));
	struct tk_rows all;

	MUST(tk_store_list_alerts(p->store, &all, &err));
	for (size_t i = 0; i < all.count; i++) {
		const struct tk_alert_row *row = TK_ROWS_AT(&all, struct tk_alert_row, i);
		char link[160];

		snprintf(link, sizeof link, "https://example.org/perf/alerts.html#%s", row->uid);
		if (!strcmp(row->bad_rev, "bad1"))
			assert_string_equal(text_of(json_array_get(alerts, 0), "link"), link);
	}
	tk_rows_free(&all);
	json_decref(first);
	/* Only the new one, later. */
	put_alert(p, "bad3", "another", "open");
	MUST(notify(p, p->url, &err));
	json_t *second = body(p->received, 1);

	alerts = json_object_get(second, "alerts");
	assert_int_equal(json_array_size(alerts), 1);
	assert_string_equal(text_of(json_array_get(alerts, 0), "bad_rev"), "bad3");
	json_decref(second);
}

static void what_is_refused_is_sent_again(void **state)
{
	struct place *p = *state;
	struct tk_error why = {0};
	char status[112];

	put_alert(p, "bad1", "t", "open");
	snprintf(status, sizeof(status), "%s.status", p->received);
	MUST(tk_file_write(status, "403", 3, &err));
	assert_int_equal(notify(p, p->url, &why), TK_EIO);
	assert_non_null(strstr(why.message, "403"));
	assert_null(strstr(why.message, "secret"));
	unlink(status);
	MUST(notify(p, p->url, &err));
	json_t *first = body(p->received, 0);

	assert_int_equal(json_array_size(json_object_get(first, "alerts")), 1);
	json_decref(first);
}

static void many_alerts_are_summed_up(void **state)
{
	struct place *p = *state;

	for (int i = 0; i < 25; i++) {
		char rev[16];

		snprintf(rev, sizeof(rev), "rev%d", i);
		put_alert(p, rev, "t", "open");
	}
	MUST(notify(p, p->url, &err));
	json_t *first = body(p->received, 0);

	assert_int_equal(json_array_size(json_object_get(first, "alerts")), 25);
	assert_non_null(strstr(text_of(first, "text"), "25 new alerts"));
	assert_non_null(strstr(text_of(first, "text"), "and 15 more"));
	json_decref(first);
}

static void a_file_gets_a_line_for_each(void **state)
{
	struct place *p = *state;
	struct tk_error why = {0};
	char address[128], path[112];

	snprintf(path, sizeof(path), "%s/alerts.jsonl", p->dir);
	snprintf(address, sizeof(address), "file:%s", path);
	put_alert(p, "bad1", "line\nbreak", "open");
	MUST(notify(p, address, &err));
	put_alert(p, "bad2", "t", "open");
	MUST(notify(p, address, &err));
	MUST(notify(p, address, &err));
	json_t *first = body(path, 0), *second = body(path, 1);

	assert_string_equal(text_of(first, "title"), "line\nbreak");
	assert_string_equal(text_of(second, "bad_rev"), "bad2");
	assert_null(body(path, 2));
	json_decref(first);
	json_decref(second);
	/* Another address is another place: it has heard of nothing yet. */
	MUST(notify(p, p->url, &err));
	first = body(p->received, 0);
	assert_int_equal(json_array_size(json_object_get(first, "alerts")), 2);
	json_decref(first);
	put_alert(p, "bad3", "t", "open");
	assert_int_equal(notify(p, "file:/nonexistent/folder/file", &why), TK_ENOTFOUND);
	assert_non_null(strstr(why.message, "/nonexistent/folder/file"));
}

static void nobody_and_nonsense(void **state)
{
	struct place *p = *state;
	struct tk_error why = {0};

	put_alert(p, "bad1", "t", "open");
	MUST(notify(p, NULL, &err));
	MUST(notify(p, "", &err));
	assert_int_equal(notify(p, "gopher://example.org", &why), TK_ECONFIG);
	assert_non_null(strstr(why.message, "expected an address that starts with https:"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_webhook_hears_of_every_alert_once),
	        TEST(an_alert_that_was_acked_is_not_told),
	        TEST(what_is_refused_is_sent_again),
	        TEST(many_alerts_are_summed_up),
	        TEST(a_file_gets_a_line_for_each),
	        TEST(nobody_and_nonsense),
	};

	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
