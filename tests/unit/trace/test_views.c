/* A launch for other programs and pages: the Chrome trace and the timeline of a multiprocessor.
 * And the limits of the file that both come from. */
#include "made_launch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/chrome_trace.h"
#include "trace/timeline.h"

static struct made made;

static int set_up(void **state)
{
	made_begin(&made);
	return 0;
}

static json_t *write_chrome(size_t multiprocessors)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct tk_error err = {0};

	assert_non_null(out);
	if (tk_trace_write_chrome(&made.kernel, &made.launch, multiprocessors, out, &err))
		fail_msg("%s", err.message);
	fclose(out);
	json_t *root = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(root);
	return root;
}

/* Event number `i` of a phase; NULL: there are fewer. */
static const json_t *event(const json_t *root, const char *phase, size_t i)
{
	const json_t *list = json_object_get(root, "traceEvents");

	for (size_t k = 0; k < json_array_size(list); k++) {
		const json_t *e = json_array_get(list, k);
		if (!strcmp(json_string_value(json_object_get(e, "ph")), phase) && !i--)
			return e;
	}
	return NULL;
}

static double number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* ---- chrome trace ---- */

/* A process for each multiprocessor, a thread for each group of each block. */
static void groups_are_threads_of_multiprocessors(void **state)
{
	made_group(&made, 7, 5, 2, 0, 100);
	made_span(&made, SOFTMAX, 10, 60);
	json_t *root = write_chrome(0);
	const json_t *process = event(root, "M", 0), *thread = event(root, "M", 1),
	             *span = event(root, "X", 0);
	assert_string_equal(text(process, "name"), "process_name");
	assert_string_equal(text(json_object_get(process, "args"), "name"), "multiprocessor 7");
	assert_string_equal(text(json_object_get(thread, "args"), "name"), "block 5, consumer 1");
	NEAR(number(thread, "tid"), 4096 + 5 * 3 + 2);
	NEAR(number(span, "tid"), 4096 + 5 * 3 + 2);
	NEAR(number(span, "pid"), 7);
	assert_string_equal(text(span, "name"), "softmax");
	NEAR(number(span, "ts"), 0.010); /* us */
	NEAR(number(span, "dur"), 0.050);
	json_decref(root);
}

/* Perfetto drops a span that begins before the end of the one before it. */
static void spans_touch_after_rounding(void **state)
{
	double end = 0;

	made_group(&made, 0, 0, 0, 0, 1000);
	for (int i = 0; i < 20; i++)
		made_span(&made, SOFTMAX, i * 33.3, (i + 1) * 33.3);
	json_t *root = write_chrome(0);
	for (size_t i = 0; i < 20; i++) {
		const json_t *e = event(root, "X", i);
		NEAR(number(e, "ts"), end);
		end = number(e, "ts") + number(e, "dur");
	}
	NEAR(end, 0.666);
	json_decref(root);
}

/* What goes on beside a group has a begin and an end with an id of its own. */
static void products_are_asynchronous_events(void **state)
{
	made_group(&made, 0, 0, 0, 0, 100);
	made_async(&made, MULTIPLY, 10, 50);
	made_async(&made, MULTIPLY, 20, 80);
	json_t *root = write_chrome(0);
	for (size_t i = 0; i < 2; i++) {
		const json_t *begin = event(root, "b", i), *end = event(root, "e", i);
		NEAR(number(begin, "ts"), i ? 0.020 : 0.010);
		NEAR(number(end, "ts"), i ? 0.080 : 0.050);
		assert_string_equal(text(begin, "cat"), "asynchronous");
		assert_true(json_equal(json_object_get(begin, "id2"), json_object_get(end, "id2")));
	}
	assert_false(json_equal(json_object_get(event(root, "b", 0), "id2"),
	        json_object_get(event(root, "b", 1), "id2")));
	json_decref(root);
}

/* Exactly as many as are wanted, whatever there are, and spread: not all of them neighbours. */
static void some_multiprocessors_are_written(void **state)
{
	for (uint32_t all = 1; all <= 9; all++) {
		made_begin(&made);
		for (uint32_t i = 0; i < all; i++) {
			made_group(&made, i, 2 * i, 0, 0, 100);
			made_span(&made, SOFTMAX, 0, 50);
			made_group(&made, i, 2 * i + 1, 0, 0, 100);
		}
		for (size_t wanted = 0; wanted <= 10; wanted++) {
			json_t *root = write_chrome(wanted);
			size_t processes = 0, spans = 0;
			const size_t expected = wanted && wanted < all ? wanted : all;
			for (size_t i = 0; event(root, "X", i); i++)
				spans++;
			for (size_t i = 0; event(root, "M", i); i++)
				processes +=
				        !strcmp(text(event(root, "M", i), "name"), "process_name");
			assert_int_equal(processes, expected);
			assert_int_equal(spans, expected);
			json_decref(root);
		}
	}
	json_t *root = write_chrome(2); /* of nine */
	assert_true(number(event(root, "X", 1), "pid") - number(event(root, "X", 0), "pid") >= 4);
	json_decref(root);
}

static void a_full_disk_is_an_error(void **state)
{
	struct tk_error err = {0};
	FILE *out = fopen("/dev/full", "w");

	assert_non_null(out);
	made_group(&made, 0, 0, 0, 0, 100);
	assert_int_not_equal(tk_trace_write_chrome(&made.kernel, &made.launch, 0, out, &err), 0);
	assert_non_null(strstr(err.message, "writing the trace"));
	fclose(out);
}

/* ---- timeline ---- */

/* Of the multiprocessor that ends in the middle: half of them end later. */
static void the_timeline_is_of_the_one_in_the_middle(void **state)
{
	static const struct {
		double ends[5];
		int count, middle;
	} cases[] = {{{100}, 1, 0}, {{200, 100}, 2, 1}, {{100, 300, 200}, 3, 2},
	        {{400, 300, 200, 100}, 4, 2}, {{10, 50, 20, 40, 30}, 5, 4}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		made_begin(&made);
		for (int k = 0; k < cases[i].count; k++)
			made_group(&made, (uint32_t)k, (uint32_t)k, 0, 0, cases[i].ends[k]);
		json_t *o = tk_trace_timeline_json(&made.kernel, &made.launch, 100);
		NEAR(number(o, "multiprocessor"), cases[i].middle);
		NEAR(number(o, "duration_ns"), made.launch.duration_ns);
		json_decref(o);
	}
}

/* The earliest spans are kept; the others are counted. */
static void what_has_no_room_is_counted(void **state)
{
	made_group(&made, 0, 0, 0, 0, 1000);
	for (int i = 0; i < 10; i++)
		made_span(&made, SOFTMAX, 1000 - 100 * (i + 1), 1000 - 100 * i);
	for (size_t room = 4; room <= 12; room++) {
		json_t *o = tk_trace_timeline_json(&made.kernel, &made.launch, room);
		const json_t *spans = json_object_get(o, "spans");
		const size_t kept = room < 10 ? room : 10;
		assert_int_equal(json_array_size(spans), kept);
		NEAR(number(o, "left_out"), (double)(10 - kept));
		for (size_t i = 0; i < kept; i++)
			NEAR(json_number_value(json_array_get(json_array_get(spans, i), 2)),
			        100.0 * (double)i);
		json_decref(o);
	}
}

static void regions_and_groups_are_named(void **state)
{
	made_group(&made, 0, 3, 1, -5, 100); /* not before the begin */
	json_t *o = tk_trace_timeline_json(&made.kernel, &made.launch, 100);
	const json_t *regions = json_object_get(o, "regions"),
	             *group = json_array_get(json_object_get(o, "groups"), 0);
	assert_string_equal(text(o, "kernel"), "flash");
	assert_int_equal(json_array_size(regions), MADE_REGIONS);
	assert_string_equal(text(json_array_get(regions, MULTIPLY), "kind"), "matrix products");
	assert_string_equal(text(json_array_get(regions, WRITE), "name"), "write");
	assert_int_equal(json_array_size(json_object_get(o, "group_names")), 3);
	NEAR(json_number_value(json_array_get(group, 0)), 3);
	NEAR(json_number_value(json_array_get(group, 1)), 1);
	NEAR(json_number_value(json_array_get(group, 2)), 0);
	json_decref(o);
}

static void an_empty_launch_has_an_empty_timeline(void **state)
{
	json_t *o = tk_trace_timeline_json(&made.kernel, &made.launch, 100);

	NEAR(number(o, "multiprocessor"), 0);
	assert_int_equal(json_array_size(json_object_get(o, "groups")), 0);
	assert_int_equal(json_array_size(json_object_get(o, "spans")), 0);
	json_decref(o);
}

/* ---- the file ---- */

/* A file of zeroes behind its heads. */
static int read_heads(uint32_t kernels, uint32_t launches, uint32_t groups, uint32_t regions,
        uint32_t blocks, uint32_t slots)
{
	struct tk_trace_file_head head = {.kernels = kernels, .launches = launches};
	const struct tk_trace_file_kernel k = {
	        .groups = groups, .regions = regions, .blocks = blocks, .slots = slots};
	struct tk_trace t;
	const int fd = memfd_create("heads", MFD_CLOEXEC);

	assert_true(fd >= 0);
	memcpy(head.magic, TK_TRACE_FILE_MAGIC, sizeof head.magic);
	assert_int_equal(write(fd, &head, sizeof head), (ssize_t)sizeof head);
	for (uint32_t i = 0; i < kernels; i++)
		assert_int_equal(write(fd, &k, sizeof k), (ssize_t)sizeof k);
	assert_int_equal(ftruncate(fd, (off_t)TK_TRACE_FILE_MAX), 0); /* sparse */
	const int status = tk_trace_read(fd, &t, NULL);
	if (!status)
		tk_trace_free(&t);
	close(fd);
	return status;
}

/* The largest of each number, and one more. */
static void a_file_has_its_limits(void **state)
{
	static const struct {
		uint32_t kernels, launches, groups, regions, blocks, slots;
		bool is_valid;
	} cases[] = {{1, 1, 1, 1, 1, 1, true}, {16, 1, 1, 1, 1, 1, true},
	        {17, 1, 1, 1, 1, 1, false}, {0, 1, 1, 1, 1, 1, false}, {1, 64, 1, 1, 1, 1, true},
	        {1, 65, 1, 1, 1, 1, false}, {1, 0, 1, 1, 1, 1, false}, {1, 1, 32, 1, 1, 1, true},
	        {1, 1, 33, 1, 1, 1, false}, {1, 1, 0, 1, 1, 1, false}, {1, 1, 1, 64, 1, 1, true},
	        {1, 1, 1, 65, 1, 1, false}, {1, 1, 1, 0, 1, 1, true}, {1, 1, 1, 1, 65536, 1, true},
	        {1, 1, 1, 1, 65537, 1, false}, {1, 1, 1, 1, 0, 1, false},
	        {1, 1, 1, 1, 1, 1 << 20, true}, {1, 1, 1, 1, 1, 1 << 21, false},
	        {1, 1, 1, 1, 1, 0, false}, {1, 1, 1, 1, 1, 24, false},
	        {1, 64, 32, 64, 65536, 1 << 20, false}}; /* more than the file has */

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const int status = read_heads(cases[i].kernels, cases[i].launches, cases[i].groups,
		        cases[i].regions, cases[i].blocks, cases[i].slots);
		if (status != (cases[i].is_valid ? TK_OK : TK_EDATA))
			fail_msg("case %zu: %s", i, tk_status_name(status));
	}
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(groups_are_threads_of_multiprocessors),
	        TEST(spans_touch_after_rounding),
	        TEST(products_are_asynchronous_events),
	        TEST(some_multiprocessors_are_written),
	        TEST(a_full_disk_is_an_error),
	        TEST(the_timeline_is_of_the_one_in_the_middle),
	        TEST(what_has_no_room_is_counted),
	        TEST(regions_and_groups_are_named),
	        TEST(an_empty_launch_has_an_empty_timeline),
	        TEST(a_file_has_its_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
