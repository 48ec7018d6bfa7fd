/* From the file of a worker to figures: rings made by hand, at 1,000 MHz, so that a cycle is a
 * nanosecond. */
#include "ring_file.h"
#include "trace/chrome_trace.h"
#include "trace/timeline.h"

static void test_summary(void **state)
{
	struct file f = typical_file(0);
	struct tk_trace_summary s = summarize(&f);
	assert_near(s.clock_mhz, 1000);
	assert_near(s.duration_ns, 380);
	assert_int_equal(s.multiprocessors, 2);
	assert_near(s.recorded, 8);
	assert_near(s.groups_with_loss, 0);
	assert_near(s.regions[WAIT].time_ns, 100);
	assert_near(s.regions[SOFTMAX].time_ns, 200);
	assert_near(s.regions[MULTIPLY].time_ns, 250);
	assert_near(s.regions[MULTIPLY].calls, 1);
	assert_near(s.regions[WAIT].share, 100.0 / 350);
	/* the product hides all of the softmax */
	assert_near(s.regions[SOFTMAX].exposed_ns, 0);
	assert_near(s.regions[WAIT].exposed_ns, 100);
	assert_near(s.activity_ns[TK_TRACE_DOES_TENSOR], 250);
	assert_near(s.activity_ns[TK_TRACE_DOES_WAIT], 100);
	/* one begins 30 ns late, the other one ends 30 ns early */
	assert_near(s.activity_ns[TK_TRACE_IS_IDLE], 30);
	assert_near(s.tail_ns, 15);
	double sum = 0;
	for (int a = 0; a < TK_TRACE_ACTIVITIES; a++)
		sum += s.activity_ns[a];
	assert_near(sum, s.duration_ns);
}

/* Back from the end of its block: the product that hides the softmax, then the wait before it. */
static void test_critical_path(void **state)
{
	struct file f = typical_file(0);
	struct tk_trace_summary s = summarize(&f);
	assert_near(s.critical.block.duration_ns, 350);
	assert_near(s.critical.block.region_ns[MULTIPLY], 250);
	assert_near(s.critical.block.region_ns[SOFTMAX], 0);
	assert_near(s.critical.block.region_ns[WAIT], 100);
	assert_near(s.critical.block.other_ns, 0);
	/* 400 ns more of softmax outlast the product, which began with it */
	f = typical_file(400);
	s = summarize(&f);
	assert_near(
	        s.critical.block.region_ns[MULTIPLY] + s.critical.block.region_ns[SOFTMAX], 650);
	assert_near(s.critical.block.region_ns[WAIT], 100);
}

/* Both groups are of one block: the second one waits until the first has computed, and 40 ns
 * longer. */
static void test_critical_path_of_two_groups(void **state)
{
	struct file f = new_file();
	f.kernel.blocks = 1;
	f.kernel.groups = 2;
	for (uint32_t i = 0; i < 2; i++)
		f.rings[i] = (struct tk_trace_ring){.group = i,
		        .begin_clock = 1,
		        .end_clock = i ? 501 : 301,
		        .begin_ns = 1000,
		        .end_ns = i ? 1500 : 1300};
	put(&f, 0, 1, SOFTMAX, TK_TRACE_DOES, 0, 0);
	put(&f, 0, 161, WAIT, TK_TRACE_DOES, 0, 0);
	put(&f, 1, 1, WAIT, TK_TRACE_DOES, 0, 0);
	put(&f, 1, 201, MULTIPLY, TK_TRACE_DOES, 0, 0);
	put(&f, 1, 451, TK_TRACE_NOTHING, TK_TRACE_DOES, 0, 0);
	struct tk_trace_summary s = summarize(&f);
	assert_near(s.critical.block.duration_ns, 500);
	assert_near(s.critical.block.region_ns[SOFTMAX], 160);
	assert_near(s.critical.block.region_ns[WAIT], 40);
	assert_near(s.critical.block.region_ns[MULTIPLY], 250);
	assert_near(s.critical.block.other_ns, 50);
}

/* Four records in a row 8 ns apart: a record costs 8 ns, which the region does not. */
static void test_cost_of_records(void **state)
{
	struct file f = new_file();
	f.rings[0] = (struct tk_trace_ring){
	        .begin_clock = 1, .end_clock = 201, .begin_ns = 1000, .end_ns = 1200};
	for (uint32_t i = 0; i < 4; i++)
		put(&f, 0, 1 + 8 * i, TK_TRACE_CALIBRATION, TK_TRACE_DOES, 0, 0);
	put(&f, 0, 33, SOFTMAX, TK_TRACE_DOES, 0, 0);
	put(&f, 0, 133, TK_TRACE_NOTHING, TK_TRACE_DOES, 0, 0);
	struct tk_trace_summary s = summarize(&f);
	assert_near(s.record_ns, 8);
	assert_near(s.regions[SOFTMAX].time_ns, 92);
	assert_near(s.regions[SOFTMAX].exposed_ns, 100);
	assert_near(s.activity_ns[TK_TRACE_DOES_OTHER], 100);
}

/* The oldest records are overwritten: their regions are missing, the rest is right. */
static void test_full_ring(void **state)
{
	struct file f = new_file();
	f.rings[0] = (struct tk_trace_ring){
	        .begin_clock = 0, .end_clock = 4000, .begin_ns = 1000, .end_ns = 5000};
	for (uint32_t i = 0; i < 40; i++)
		put(&f, 0, 100 * i + 1, i % 2 ? WAIT : SOFTMAX, TK_TRACE_DOES, 0, 0);
	struct tk_trace_summary s = summarize(&f);
	assert_near(s.groups_with_loss, 1);
	assert_near(s.recorded, SLOTS);
	assert_near(s.regions[SOFTMAX].calls, SLOTS / 2);
	assert_near(s.regions[SOFTMAX].time_ns, 100 * SLOTS / 2);
}

/* It has stopped: the newest records are missing. What the group did then is in no region. */
static void test_stopped_ring(void **state)
{
	struct file f = new_file();
	f.rings[0] = (struct tk_trace_ring){
	        .begin_clock = 1, .end_clock = 4001, .begin_ns = 1000, .end_ns = 5000};
	put(&f, 0, 1, SOFTMAX, TK_TRACE_DOES, 0, 0);
	put(&f, 0, 101, WAIT, TK_TRACE_DOES, 0, 0);
	f.rings[0].next |= TK_TRACE_IS_FULL;
	struct tk_trace_summary s = summarize(&f);
	assert_near(s.groups_with_loss, 1);
	assert_near(s.recorded, 2);
	assert_near(s.regions[SOFTMAX].time_ns, 100);
	assert_near(s.regions[WAIT].calls, 0);
	assert_near(s.activity_ns[TK_TRACE_DOES_OTHER], 3900);
}

/* A turn of a loop left out one of its numbers. */
static void test_slot_that_is_not_used(void **state)
{
	struct file f = new_file();
	f.rings[0] = (struct tk_trace_ring){
	        .begin_clock = 1, .end_clock = 301, .begin_ns = 1000, .end_ns = 1300};
	put(&f, 0, 1, SOFTMAX, TK_TRACE_DOES, 0, 0);
	f.rings[0].next++;
	put(&f, 0, 101, WAIT, TK_TRACE_DOES, 0, 0);
	struct tk_trace_summary s = summarize(&f);
	assert_near(s.recorded, 2);
	assert_near(s.groups_with_loss, 0);
	assert_near(s.regions[SOFTMAX].time_ns, 100);
	assert_near(s.regions[WAIT].time_ns, 200);
	assert_near(s.regions[SOFTMAX].calls, 1);
}

/* A block with two groups that take two tiles: the second group ends each of them last. */
static void test_tiles(void **state)
{
	struct file f = new_file();
	f.kernel.blocks = 1;
	f.kernel.groups = 2;
	for (uint32_t i = 0; i < 2; i++) {
		f.rings[i] = (struct tk_trace_ring){.group = i,
		        .begin_clock = 1,
		        .end_clock = 701 + 20 * i,
		        .begin_ns = 1000,
		        .end_ns = 1700 + 20 * i};
		put(&f, (int)i, 51, WAIT, TK_TRACE_BEGIN_TILE, 0, 0);
		put(&f, (int)i, 101, SOFTMAX, TK_TRACE_DOES, 0, 0);
		put(&f, (int)i, 351 + 20 * i, WAIT, TK_TRACE_BEGIN_TILE, 0, 0);
		put(&f, (int)i, 401 + 20 * i, SOFTMAX, TK_TRACE_DOES, 0, 0);
	}
	struct tk_trace_summary s = summarize(&f);
	assert_near(s.critical.tiles, 2);
	assert_near(s.critical.shortest_tile_ns, 320);
	assert_near(s.critical.longest_tile_ns, 370);
	assert_near(s.critical.tile.duration_ns, 345);
	assert_near(s.critical.tile.region_ns[SOFTMAX] + s.critical.tile.region_ns[WAIT] +
	                    s.critical.tile.other_ns,
	        345);
	/* the second tile begins in one group while the other one still computes for the first */
	assert_near(s.critical.tile.region_ns[SOFTMAX], (270 + 20 + 300) / 2.0);
	assert_near(s.critical.block.duration_ns, 720);
	/* it stopped in the second tile, which is then not one */
	f.rings[0].next |= TK_TRACE_IS_FULL;
	f.rings[1].next |= TK_TRACE_IS_FULL;
	s = summarize(&f);
	assert_near(s.critical.tiles, 1);
	assert_near(s.critical.tile.duration_ns, 320);
}

/* Ten records of 8 ns, one after the other, on the path of the block: without them it is 8 %
 * shorter. Beside a product they cost nothing. */
static void test_corrected_duration(void **state)
{
	for (int beside = 0; beside < 2; beside++) {
		struct file f = new_file();
		f.rings[0] = (struct tk_trace_ring){
		        .begin_clock = 1, .end_clock = 1001, .begin_ns = 1000, .end_ns = 2000};
		for (uint32_t i = 0; i < 3; i++)
			put(&f, 0, 1 + 8 * i, TK_TRACE_CALIBRATION, TK_TRACE_DOES, 0, 0);
		if (beside)
			put(&f, 0, 50, WAIT, TK_TRACE_BEGIN_ASYNC, MULTIPLY, 0);
		for (uint32_t i = 0; i < 10; i++)
			put(&f, 0, 101 + 90 * i, SOFTMAX, TK_TRACE_DOES, 0, 0);
		if (beside)
			put(&f, 0, 1000, SOFTMAX, TK_TRACE_END_ASYNC, MULTIPLY, 0);
		struct tk_trace_summary s = summarize(&f);
		assert_near(s.record_ns, 8);
		assert_near(s.duration_ns, 1000);
		if (beside)
			assert_true(s.corrected_ns > 980 && s.corrected_ns <= 1000);
		else
			assert_near(s.corrected_ns, 1000 - 10 * 8);
	}
}

static void expect_refused(struct file f)
{
	struct tk_trace t;
	assert_int_equal(read_file(&f, sizeof f, &t), TK_EDATA);
}

static void test_files_that_are_no_traces(void **state)
{
	struct tk_trace t;
	struct file f = typical_file(0);
	assert_int_equal(read_file(&f, sizeof f, &t), TK_OK);
	tk_trace_free(&t);
	assert_int_equal(read_file("", 0, &t), TK_EDATA);
	for (size_t cut = 1; cut < sizeof f; cut += 97)
		assert_int_equal(read_file(&f, sizeof f - cut, &t), TK_EDATA);
	f.head.magic[0] = 'x';
	expect_refused(f);
	f = typical_file(0);
	f.head.kernels = 0;
	expect_refused(f);
	f.head.kernels = TK_TRACE_KERNELS_MAX + 1;
	expect_refused(f);
	f = typical_file(0);
	f.head.launches = UINT32_MAX;
	expect_refused(f);
	f = typical_file(0);
	f.kernel.slots = 12;
	expect_refused(f);
	f.kernel.slots = 0;
	expect_refused(f);
	f = typical_file(0);
	f.kernel.blocks = UINT32_MAX;
	expect_refused(f);
	f = typical_file(0);
	f.kernel.groups = TK_TRACE_GROUPS_MAX + 1;
	expect_refused(f);
	f = typical_file(0);
	f.kernel.regions = TK_TRACE_REGIONS_MAX + 1;
	expect_refused(f);
}

/* No record may lead outside of the arrays, or to a time outside of the launch. */
static void test_random_bytes(void **state)
{
	srand(1);
	for (int round = 0; round < 2000; round++) {
		struct file f = typical_file(0);
		struct tk_trace t;
		struct tk_trace_summary s;
		char *bytes = (char *)f.rings;
		for (int i = 0; i < 1 + round % 60; i++)
			bytes[(size_t)rand() % (sizeof f - offsetof(struct file, rings))] =
			        (char)rand();
		assert_int_equal(read_file(&f, sizeof f, &t), TK_OK);
		if (!tk_trace_summarize_all(&t, 0, &s, NULL)) {
			double sum = 0;
			for (int a = 0; a < TK_TRACE_ACTIVITIES; a++)
				sum += s.activity_ns[a];
			assert_true(sum <= s.duration_ns * (1 + 1e-9) + 1e-6);
		}
		tk_trace_free(&t);
	}
}

static void test_texts_end(void **state)
{
	struct file f = typical_file(0);
	struct tk_trace t;
	memset(f.kernel.region[1], 'x', TK_TRACE_NAME_SIZE);
	assert_int_equal(read_file(&f, sizeof f, &t), TK_OK);
	assert_int_equal(strlen(t.kernels[0].region[1]), TK_TRACE_NAME_SIZE - 1);
	tk_trace_free(&t);
}

/* ---- comparison ---- */

struct runs {
	struct tk_trace_summary base[TK_TRACE_RUNS_MIN], head[TK_TRACE_RUNS_MIN];
};

static struct runs make_runs(uint32_t slower)
{
	struct runs r;
	for (uint32_t i = 0; i < TK_TRACE_RUNS_MIN; i++) {
		struct file base = typical_file(2 * i), head = typical_file(slower + 2 * i + 1);
		r.base[i] = summarize(&base);
		r.head[i] = summarize(&head);
	}
	return r;
}

static struct tk_trace_comparison compare(const struct runs *r)
{
	struct tk_trace_comparison c;
	struct file f = typical_file(0);
	assert_int_equal(
	        tk_trace_compare(&f.kernel, r->base, r->head, TK_TRACE_RUNS_MIN, &c, NULL), TK_OK);
	return c;
}

/* The product lasts as long as the softmax beside it: the softmax is the cause. */
static void test_cause(void **state)
{
	struct runs r = make_runs(60);
	struct tk_trace_comparison c = compare(&r);
	assert_true(c.duration.is_changed);
	assert_true(c.regions[SOFTMAX].is_changed);
	assert_true(c.regions[MULTIPLY].is_changed);
	assert_false(c.regions[WAIT].is_changed);
	assert_int_equal(c.cause, SOFTMAX);
	assert_true(fabs(c.regions[SOFTMAX].change_ns - 61) < 10);
	assert_true(c.regions[SOFTMAX].lo_ns > 40 && c.regions[SOFTMAX].hi_ns < 80);
}

static void test_no_change(void **state)
{
	struct runs r = make_runs(0);
	struct tk_trace_comparison c = compare(&r);
	assert_false(c.duration.is_changed);
	assert_int_equal(c.cause, -1);
	for (int i = 0; i < REGIONS; i++)
		assert_false(c.regions[i].is_changed);
}

static void test_faster(void **state)
{
	struct runs r = make_runs(60), turned;
	memcpy(turned.base, r.head, sizeof r.head);
	memcpy(turned.head, r.base, sizeof r.base);
	struct tk_trace_comparison c = compare(&turned);
	assert_true(c.duration.change_ns < 0);
	assert_int_equal(c.cause, SOFTMAX);
}

static void test_too_few_runs(void **state)
{
	struct runs r = make_runs(0);
	struct tk_trace_comparison c;
	struct file f = typical_file(0);
	assert_int_equal(
	        tk_trace_compare(&f.kernel, r.base, r.head, TK_TRACE_RUNS_MIN - 1, &c, NULL),
	        TK_EUSAGE);
}

/* ---- for a viewer ---- */

static json_t *write_chrome(const struct file *f, size_t multiprocessors)
{
	struct tk_trace t;
	struct tk_trace_launch l;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	assert_int_equal(read_file(f, sizeof *f, &t), TK_OK);
	assert_int_equal(tk_trace_launch_read(&t, 0, 0, &l, NULL), TK_OK);
	assert_int_equal(
	        tk_trace_write_chrome(&t.kernels[0], &l, multiprocessors, out, NULL), TK_OK);
	fclose(out);
	json_t *root = json_loads(text, 0, NULL);
	assert_non_null(root);
	free(text);
	tk_trace_launch_free(&l);
	tk_trace_free(&t);
	return root;
}

static size_t count_events(const json_t *root, const char *phase)
{
	size_t i, n = 0;
	json_t *event;
	json_array_foreach (json_object_get(root, "traceEvents"), i, event)
		n += strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0;
	return n;
}

static void test_chrome_trace(void **state)
{
	struct file f = typical_file(0);
	json_t *root = write_chrome(&f, 0);
	assert_int_equal(count_events(root, "M"), 4); /* two processes, two threads */
	assert_int_equal(count_events(root, "X"), 4);
	assert_int_equal(count_events(root, "b"), 2);
	assert_int_equal(count_events(root, "e"), 2);
	json_decref(root);
	root = write_chrome(&f, 1);
	assert_int_equal(count_events(root, "M"), 2);
	assert_int_equal(count_events(root, "X"), 2);
	json_decref(root);
	/* a name that is not text */
	memcpy(f.kernel.region[SOFTMAX], "\xff\"<b>", 6);
	root = write_chrome(&f, 0);
	assert_int_equal(count_events(root, "X"), 4);
	json_decref(root);
}

/* Three multiprocessors that end at 300, 200 and 100 ns: the second one is kept. */
static void test_timeline(void **state)
{
	struct tk_trace_group groups[] = {
	        {0, 0, 1, 0, 300}, {1, 0, 4, 0, 100}, {3, 0, 4, 100, 200}, {2, 0, 9, 0, 100}};
	struct tk_trace_span spans[] = {{0, WAIT, .begin_ns = 0, .end_ns = 300},
	        {1, MULTIPLY, true, 0, 10, 90}, {1, WAIT, .begin_ns = 0, .end_ns = 10},
	        {2, SOFTMAX, .begin_ns = 100.4, .end_ns = 199.6}};
	const struct tk_trace_launch launch = {.groups = groups,
	        .group_count = 4,
	        .spans = spans,
	        .span_count = 4,
	        .duration_ns = 300,
	        .multiprocessors = 3};
	const struct tk_trace_file_kernel kernel = new_file().kernel;
	json_t *all = tk_trace_timeline_json(&kernel, &launch, 12),
	       *cut = tk_trace_timeline_json(&kernel, &launch, 4),
	       *expected = json_loads("[[0,0,0,10],[0,1,10,90,1],[1,2,100,200]]", 0, NULL);
	(void)state;
	assert_int_equal(json_integer_value(json_object_get(all, "multiprocessor")), 4);
	assert_int_equal(json_integer_value(json_object_get(all, "left_out")), 0);
	assert_int_equal(json_array_size(json_object_get(all, "groups")), 2);
	assert_true(json_equal(json_object_get(all, "spans"), expected));
	/* a fourth as many groups as spans: one */
	json_array_remove(expected, 2);
	assert_int_equal(json_array_size(json_object_get(cut, "groups")), 1);
	assert_int_equal(json_integer_value(json_object_get(cut, "left_out")), 1);
	assert_true(json_equal(json_object_get(cut, "spans"), expected));
	json_decref(all);
	json_decref(cut);
	json_decref(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_summary),
	        cmocka_unit_test(test_critical_path),
	        cmocka_unit_test(test_critical_path_of_two_groups),
	        cmocka_unit_test(test_cost_of_records),
	        cmocka_unit_test(test_full_ring),
	        cmocka_unit_test(test_stopped_ring),
	        cmocka_unit_test(test_slot_that_is_not_used),
	        cmocka_unit_test(test_tiles),
	        cmocka_unit_test(test_corrected_duration),
	        cmocka_unit_test(test_files_that_are_no_traces),
	        cmocka_unit_test(test_random_bytes),
	        cmocka_unit_test(test_texts_end),
	        cmocka_unit_test(test_cause),
	        cmocka_unit_test(test_no_change),
	        cmocka_unit_test(test_faster),
	        cmocka_unit_test(test_too_few_runs),
	        cmocka_unit_test(test_chrome_trace),
	        cmocka_unit_test(test_timeline),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
