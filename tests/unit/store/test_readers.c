/* Several connections to one history: readers see what was committed and keep what they began
 * to read, and a second writer waits as long as it may. */
#include "base/clock.h"
#include "history.h"
#include "store/readers.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

static size_t count_machines(struct tk_store *s)
{
	struct tk_rows rows = {0};

	MUST(tk_store_list_machines(s, &rows, &err));
	const size_t count = rows.count;

	tk_rows_free(&rows);
	return count;
}

static void put_machine(struct tk_store *s, const char *name)
{
	const struct tk_machine_row row = {.name = name, .attributes = "{}"};
	int64_t id;

	MUST(tk_store_put_machine(s, &row, &id, &err));
}

static void readers_are_kept_and_given_again(void **state)
{
	struct history *h = *state;
	struct tk_store_readers *readers = tk_store_readers_new(h->store);
	struct tk_store *taken[3];

	assert_non_null(readers);
	for (size_t i = 0; i < 3; i++) {
		taken[i] = tk_store_readers_take(readers);
		assert_non_null(taken[i]);
		assert_string_equal(tk_store_path(taken[i]), h->path);
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(taken[k], taken[i]);
	}
	tk_store_readers_give(readers, taken[1]);
	assert_ptr_equal(tk_store_readers_take(readers), taken[1]); /* not opened again */
	tk_store_readers_give(readers, NULL);
	for (size_t i = 0; i < 3; i++)
		tk_store_readers_give(readers, taken[i]);
	tk_store_readers_free(readers);
	tk_store_readers_free(NULL);
}

static void a_reader_sees_what_was_committed(void **state)
{
	struct history *h = *state;
	struct tk_store_readers *readers = tk_store_readers_new(h->store);
	struct tk_store *reader = tk_store_readers_take(readers);
	struct tk_error failure = {0};
	const struct tk_machine_row row = {.name = "x", .attributes = "{}"};
	int64_t id;

	assert_int_equal(count_machines(reader), 1);
	MUST(tk_store_begin(h->store, &err));
	put_machine(h->store, "second");
	assert_int_equal(count_machines(h->store), 2);
	assert_int_equal(count_machines(reader), 1);
	MUST(tk_store_commit(h->store, &err));
	assert_int_equal(count_machines(reader), 2);
	/* It only reads. */
	assert_int_not_equal(tk_store_put_machine(reader, &row, &id, &failure), 0);
	assert_int_equal(count_machines(h->store), 2);
	tk_store_readers_give(readers, reader);
	tk_store_readers_free(readers);
}

static void a_snapshot_stays_until_its_end(void **state)
{
	struct history *h = *state;
	struct tk_store *reader;

	MUST(tk_store_open(h->path, TK_STORE_READ, &reader, &err));
	MUST(tk_store_begin_read(reader, &err));
	assert_int_equal(count_machines(reader), 1);
	put_machine(h->store, "second");
	put_machine(h->store, "third");
	assert_int_equal(count_machines(reader), 1);
	tk_store_end_read(reader);
	assert_int_equal(count_machines(reader), 3);
	tk_store_close(reader);
}

/* Within a transaction a read begins nothing that could end it. */
static void a_read_within_a_transaction(void **state)
{
	struct history *h = *state;

	MUST(tk_store_begin(h->store, &err));
	put_machine(h->store, "second");
	MUST(tk_store_begin_read(h->store, &err));
	assert_int_equal(count_machines(h->store), 2);
	tk_store_end_read(h->store);
	put_machine(h->store, "third");
	tk_store_rollback(h->store);
	assert_int_equal(count_machines(h->store), 1);
}

static void a_second_writer_waits_no_longer_than_it_may(void **state)
{
	struct history *h = *state;
	const struct tk_machine_row row = {.name = "x", .attributes = "{}"};
	struct tk_store *other;
	int64_t id;

	MUST(tk_store_open(h->path, TK_STORE_WRITE, &other, &err));
	tk_store_set_lock_wait(other, tk_clock_monotonic_ns(), 0.02);
	MUST(tk_store_begin(h->store, &err));
	put_machine(h->store, "second");
	const int64_t start = tk_clock_monotonic_ns();

	MUST_FAIL(TK_EBUSY, h->path, tk_store_put_machine(other, &row, &id, &err));
	assert_true(tk_clock_monotonic_ns() - start >= 15 * 1000 * 1000);
	MUST(tk_store_commit(h->store, &err));
	/* What failed once works afterwards. */
	MUST(tk_store_put_machine(other, &row, &id, &err));
	assert_int_equal(count_machines(h->store), 3);
	tk_store_close(other);
}

struct job {
	struct tk_store_readers *readers;
	size_t seen, failed;
};

static void *read_many(void *arg)
{
	struct job *job = arg;

	for (int i = 0; i < 20; i++) {
		struct tk_store *s = tk_store_readers_take(job->readers);
		struct tk_rows rows = {0};
		struct tk_error err;

		if (!s || tk_store_list_machines(s, &rows, &err))
			job->failed++;
		else if (rows.count < job->seen)
			job->failed++; /* what was committed does not vanish */
		else
			job->seen = rows.count;
		tk_rows_free(&rows);
		tk_store_readers_give(job->readers, s);
	}
	return NULL;
}

static void threads_read_while_one_writes(void **state)
{
	enum { THREADS = 4 };
	struct history *h = *state;
	struct tk_store_readers *readers = tk_store_readers_new(h->store);
	struct job jobs[THREADS];
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){.readers = readers};
		assert_int_equal(pthread_create(&threads[i], NULL, read_many, &jobs[i]), 0);
	}
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof name, "m%d", i);
		put_machine(h->store, name);
	}
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(jobs[i].failed, 0);
		assert_true(jobs[i].seen >= 1 && jobs[i].seen <= 21);
	}
	tk_store_readers_free(readers);
	assert_int_equal(count_machines(h->store), 21);
}

/* The history is gone: a reader cannot be opened, and that is all. */
static void readers_of_a_history_that_is_gone(void **state)
{
	struct history *h = *state;
	struct tk_store_readers *readers = tk_store_readers_new(h->store);

	tk_store_close(h->store);
	h->store = NULL;
	assert_int_equal(unlink(h->path), 0);
	assert_null(tk_store_readers_take(readers));
	tk_store_readers_free(readers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(readers_are_kept_and_given_again),
	        TEST(a_reader_sees_what_was_committed),
	        TEST(a_snapshot_stays_until_its_end),
	        TEST(a_read_within_a_transaction),
	        TEST(a_second_writer_waits_no_longer_than_it_may),
	        TEST(threads_read_while_one_writes),
	        TEST(readers_of_a_history_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
