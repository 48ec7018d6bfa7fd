/* Numbers that the history keeps compressed: samples and states of monitors, whole and damaged. */
#include "base/archive.h"
#include "row_fixture.h"

/* Replaces the blobs of a column by `value`, an SQL expression that may use the column itself. */
static void set_blob(struct history *h, const char *table, const char *column, const char *value)
{
	char sql[512];

	snprintf(sql, sizeof(sql), "UPDATE %s SET %s=%s", table, column, value);
	history_run_sql(h, sql);
}

/* x'...' with `length` zero bytes, compressed as the store does it. */
static const char *packed_zeros(size_t length)
{
	static const char zeros[64];
	static char text[256];
	struct tk_buf packed = TK_BUF_INIT;
	size_t n = (size_t)snprintf(text, sizeof(text), "x'");

	MUST(tk_zstd_compress(zeros, length, &packed, &err));
	assert_true(2 * packed.len + 4 < sizeof(text));
	for (size_t i = 0; i < packed.len; i++)
		n += (size_t)snprintf(
		        text + n, sizeof(text) - n, "%02x", (unsigned char)packed.data[i]);
	snprintf(text + n, sizeof(text) - n, "'");
	tk_buf_free(&packed);
	return text;
}

static void samples_come_back_as_they_were_put(void **state)
{
	static const size_t counts[] = {0, 1, 2, 100, 5000};
	struct history *h = *state;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		double *samples;
		size_t count;
		int64_t id;

		MUST(history_put_run(h, (int64_t)i + 1, 500, counts[i], &id, &err));
		MUST(tk_store_read_samples(h->store, id, h->series, &samples, &count, &err));
		assert_int_equal(count, counts[i]);
		assert_int_equal(samples != NULL, counts[i] > 0);
		free(samples);
	}
}

/* The message names the file and the run. */
static void damaged_samples_are_an_error(void **state)
{
	const char *const damages[] = {"x'00112233'", "substr(data, 1, length(data) - 3)",
	        "substr(data, 2)", packed_zeros(12), "zeroblob(100)"};
	struct history *h = *state;
	double *samples;
	size_t count;

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct tk_error why = {0};
		char where[64];
		int64_t id;

		MUST(history_put_run(h, (int64_t)i + 1, 500, 100, &id, &err));
		set_blob(h, "sample", "data", damages[i]);
		int status = tk_store_read_samples(h->store, id, h->series, &samples, &count, &why);
		snprintf(where, sizeof(where), "samples of run %lld: ", (long long)id);
		if (!status || !strstr(why.message, where) || !strstr(why.message, h->path))
			fail_msg("%s gives %d, %s", damages[i], status, why.message);
		history_run_sql(h, "DELETE FROM sample");
	}
}

static void put_state(struct history *h, const char *options, const double *numbers, size_t count)
{
	const struct tk_monitor_state_row row = {.device_id = h->device,
	        .as_of_s = 86400,
	        .nights = 14,
	        .options = options,
	        .numbers = numbers,
	        .count = count};

	MUST(tk_store_put_monitor_state(h->store, &row, &err));
}

static void the_state_of_a_monitor_is_replaced(void **state)
{
	static const double first[] = {1, -0.5, 1e300}, second[] = {NAN, 2};
	struct history *h = *state;
	struct tk_monitor_state_row read;

	MUST_FAIL(TK_ENOTFOUND, "no state",
	        tk_store_read_monitor_state(h->store, h->device, &read, &err));
	put_state(h, "window=14", first, 3);
	put_state(h, "window=7", second, 2);
	MUST(tk_store_read_monitor_state(h->store, h->device, &read, &err));
	assert_int_equal(read.as_of_s, 86400);
	assert_int_equal(read.nights, 14);
	assert_string_equal(read.options, "window=7");
	assert_int_equal(read.count, 2);
	assert_true(isnan(read.numbers[0]) && read.numbers[1] == 2);
	free((void *)read.options);
	free((void *)read.numbers);
	MUST(tk_store_reset_monitor(h->store, h->device, 0, &err));
	MUST_FAIL(TK_ENOTFOUND, "no state",
	        tk_store_read_monitor_state(h->store, h->device, &read, &err));
}

/* The detector then starts again from the points. */
static void a_damaged_state_is_none(void **state)
{
	static const char *const damages[] = {
	        "x'00112233'", "substr(state, 1, length(state) - 3)", "zeroblob(100)"};
	static const double numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct history *h = *state;
	struct tk_monitor_state_row read;

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		put_state(h, "", numbers, 8);
		set_blob(h, "monitor_state", "state", damages[i]);
		MUST_FAIL(TK_ENOTFOUND, "cannot be read",
		        tk_store_read_monitor_state(h->store, h->device, &read, &err));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(samples_come_back_as_they_were_put),
	        TEST(damaged_samples_are_an_error),
	        TEST(the_state_of_a_monitor_is_replaced),
	        TEST(a_damaged_state_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
