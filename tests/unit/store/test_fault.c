/* The history survives what machines do: kill -9 in the middle, a full disk, others that read and
 * write at the same time. */
#include "history.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS 400

/* Stores results for ever and says each one on the pipe once it is stored. */
static void write_for_ever(struct history *h, int fd)
{
	struct tk_error err;

	history_reopen(h, TK_STORE_WRITE);
	for (int64_t seq = 0;; seq++) {
		if (history_put_run(h, seq, 100, 50, NULL, &err)) {
			fprintf(stderr, "%s\n", err.message);
			_exit(1);
		}
		if (write(fd, &seq, sizeof(seq)) != sizeof(seq))
			_exit(0);
	}
}

static void assert_whole(struct history *h, size_t at_least)
{
	struct tk_rows runs, points, problems, open;

	MUST(tk_store_list_night_runs(h->store, h->night, &runs, &err));
	MUST(tk_store_list_points(h->store, h->series, INT64_MIN, 0, &points, &err));
	MUST(tk_store_list_jobs(h->store, h->night, true, &open, &err));
	assert_true(runs.count >= at_least);
	assert_int_equal(runs.count, points.count);
	assert_int_equal(history_count(h, "sample"), runs.count);
	assert_int_equal(open.count + runs.count, RUNS);
	MUST(tk_store_check(h->store, &problems, &err));
	assert_int_equal(problems.count, 0);
	tk_rows_free(&runs);
	tk_rows_free(&points);
	tk_rows_free(&open);
	tk_rows_free(&problems);
}

static void plan(struct history *h)
{
	struct tk_job_row *jobs = calloc(RUNS, sizeof(*jobs));

	for (int64_t i = 0; i < RUNS; i++)
		jobs[i] = (struct tk_job_row){.night_id = h->night,
		        .seq = i,
		        .series_id = h->series,
		        .build_id = h->build,
		        .backend_path = "/x.so",
		        .options = ""};
	MUST(tk_store_put_jobs(h->store, jobs, RUNS, &err));
	free(jobs);
}

static void a_killed_writer_loses_nothing(void **state)
{
	struct history *h = *state;
	size_t stored = 0;

	plan(h);
	tk_store_close(h->store);
	h->store = NULL;
	for (int round = 1; round <= 3; round++) {
		int64_t seq = -1;
		int fds[2];
		pid_t child;

		assert_int_equal(pipe(fds), 0);
		child = fork();
		if (child == 0) {
			close(fds[0]);
			write_for_ever(h, fds[1]);
		}
		close(fds[1]);
		while (seq < 40 * round)
			assert_int_equal(read(fds[0], &seq, sizeof(seq)), sizeof(seq));
		kill(child, SIGKILL);
		while (read(fds[0], &seq, sizeof(seq)) == sizeof(seq))
			;
		close(fds[0]);
		waitpid(child, NULL, 0);
		stored = (size_t)seq + 1;
		history_reopen(h, TK_STORE_WRITE);
		assert_whole(h, stored);
		tk_store_close(h->store);
		h->store = NULL;
	}
}

/* Exits with 0 where the disk is full and the last result is not half there. */
static int fill_disk(struct history *h, int64_t *stored)
{
	struct rlimit limit = {768 << 10, 768 << 10};
	struct tk_error err = {0};
	int status = 0;

	signal(SIGXFSZ, SIG_IGN);
	history_reopen(h, TK_STORE_WRITE);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 2;
	for (*stored = 0; *stored < 100000 && !status; ++*stored)
		status = history_put_run(h, *stored, 100, 500, NULL, &err);
	--*stored;
	if (status != TK_ENOSPC || !strstr(err.message, "no space left")) {
		fprintf(stderr, "%s: %s\n", tk_status_name(status), err.message);
		return 3;
	}
	/* Also within a transaction: nothing of it is left, and what follows is refused. */
	if (tk_store_begin(h->store, &err) == 0) {
		for (int64_t i = 0; i < 100000; i++)
			if (history_put_run(h, 200000 + i, 100, 500, NULL, &err))
				break;
		if (tk_store_commit(h->store, &err) != TK_ENOSPC) {
			fprintf(stderr, "commit: %s\n", err.message);
			return 4;
		}
	}
	return 0;
}

static void a_full_disk_leaves_whole_results(void **state)
{
	struct history *h = *state;
	int64_t stored = -1;
	int fds[2], how;
	pid_t child;

	tk_store_close(h->store);
	h->store = NULL;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		int code = fill_disk(h, &stored);

		if (write(fds[1], &stored, sizeof(stored)) != sizeof(stored))
			_exit(9);
		_exit(code);
	}
	assert_int_equal(read(fds[0], &stored, sizeof(stored)), sizeof(stored));
	close(fds[0]);
	close(fds[1]);
	waitpid(child, &how, 0);
	assert_true(WIFEXITED(how));
	assert_int_equal(WEXITSTATUS(how), 0);
	history_reopen(h, TK_STORE_WRITE);
	assert_true(stored > 0);
	assert_int_equal(history_count(h, "run"), (size_t)stored);
	assert_int_equal(history_count(h, "measurement"), (size_t)stored);
	assert_int_equal(history_count(h, "sample"), (size_t)stored);
	MUST(history_put_run(h, 300000, 1, 1, NULL, &err));
}

static void readers_see_whole_results_while_one_writes(void **state)
{
	struct history *h = *state;
	size_t last = 0;
	int64_t seq = -1;
	struct tk_store *reader;
	int fds[2];
	pid_t child;

	tk_store_close(h->store);
	h->store = NULL;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0)
		write_for_ever(h, fds[1]);
	assert_int_equal(read(fds[0], &seq, sizeof(seq)), sizeof(seq));
	MUST(tk_store_open(h->path, TK_STORE_READ, &reader, &err));
	for (int round = 0; round < 30; round++) {
		struct tk_rows runs, points;

		MUST(tk_store_list_points(reader, h->series, INT64_MIN, 0, &points, &err));
		MUST(tk_store_list_series_runs(reader, h->series, &runs, &err));
		assert_true(points.count >= last && runs.count >= points.count);
		last = points.count;
		tk_rows_free(&runs);
		tk_rows_free(&points);
		assert_int_equal(read(fds[0], &seq, sizeof(seq)), sizeof(seq));
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	tk_store_close(reader);
}

static void two_writers_take_turns(void **state)
{
	struct history *h = *state;
	struct tk_rows list;
	pid_t child;
	int how;

	/* A connection must not be carried over a fork: SQLite's locks belong to the process. */
	tk_store_close(h->store);
	h->store = NULL;
	child = fork();
	if (child == 0) {
		struct tk_error err;

		if (tk_store_open(h->path, TK_STORE_WRITE, &h->store, &err))
			_exit(1);
		for (int64_t seq = 1000; seq < 1100; seq++)
			if (history_put_run(h, seq, 1, 5, NULL, &err))
				_exit(2);
		_exit(0);
	}
	history_reopen(h, TK_STORE_WRITE);
	for (int64_t seq = 0; seq < 100; seq++)
		MUST(history_put_run(h, seq, 1, 5, NULL, &err));
	waitpid(child, &how, 0);
	assert_true(WIFEXITED(how));
	assert_int_equal(WEXITSTATUS(how), 0);
	MUST(tk_store_list_night_runs(h->store, h->night, &list, &err));
	assert_int_equal(list.count, 200);
	tk_rows_free(&list);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_killed_writer_loses_nothing),
	        TEST(a_full_disk_leaves_whole_results),
	        TEST(readers_see_whole_results_while_one_writes),
	        TEST(two_writers_take_turns),
	};

	return cmocka_run_group_tests_name("store fault", tests, NULL, NULL);
}
