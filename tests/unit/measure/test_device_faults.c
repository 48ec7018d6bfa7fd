/* The timing engine on devices that fail, that report odd times and clocks, or whose clock drops:
 * the null device with some of its functions replaced. */
#include "engine_rig.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#define PROBLEM "gemm:m=16,n=16,k=16"
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct tk_device_ops *real;

/* ---- each function of the device fails once ---- */

static const char *failing;   /* the function */
static atomic_int calls_left; /* before it fails */

static int fails(const char *name, struct tk_abi_error *err)
{
	if (strcmp(name, failing) != 0 || atomic_fetch_sub(&calls_left, 1) != 0)
		return 0;
	snprintf(err->message, sizeof err->message, "%s fell off the bus", name);
	return 1;
}

#define FAILING(name, parameters, arguments) \
	static int failing_##name parameters \
	{ \
		return fails(#name, err) ? TK_ABI_DEVICE : real->name arguments; \
	}

FAILING(info, (struct tk_device * d, struct tk_device_info *out, struct tk_abi_error *err),
        (d, out, err))
FAILING(alloc, (struct tk_device * d, size_t bytes, void **out, struct tk_abi_error *err),
        (d, bytes, out, err))
FAILING(upload,
        (struct tk_device * d, void *to, const void *from, size_t bytes, struct tk_abi_error *err),
        (d, to, from, bytes, err))
FAILING(download,
        (struct tk_device * d, void *to, const void *from, size_t bytes, struct tk_abi_error *err),
        (d, to, from, bytes, err))
FAILING(stream_new, (struct tk_device * d, void **out, struct tk_abi_error *err), (d, out, err))
FAILING(synchronize, (struct tk_device * d, void *stream, struct tk_abi_error *err),
        (d, stream, err))
FAILING(event_new, (struct tk_device * d, void **out, struct tk_abi_error *err), (d, out, err))
FAILING(event_record, (struct tk_device * d, void *event, void *s, struct tk_abi_error *err),
        (d, event, s, err))
FAILING(event_elapsed_ns,
        (struct tk_device * d, void *from, void *to, double *ns, struct tk_abi_error *err),
        (d, from, to, ns, err))
FAILING(telemetry, (struct tk_device * d, struct tk_telemetry *out, struct tk_abi_error *err),
        (d, out, err))
FAILING(graph_begin, (struct tk_device * d, void *stream, struct tk_abi_error *err),
        (d, stream, err))
FAILING(graph_launch, (struct tk_device * d, void *graph, void *s, struct tk_abi_error *err),
        (d, graph, s, err))
FAILING(stamp_new, (struct tk_device * d, void **out, struct tk_abi_error *err), (d, out, err))
FAILING(stamp_record, (struct tk_device * d, void *stamp, void *s, struct tk_abi_error *err),
        (d, stamp, s, err))
FAILING(stamp_mhz,
        (struct tk_device * d, void *from, void *to, double *mhz, struct tk_abi_error *err),
        (d, from, to, mhz, err))
FAILING(block_stream, (struct tk_device * d, void *s, double ns, struct tk_abi_error *err),
        (d, s, ns, err))
FAILING(idle, (struct tk_device * d, double ns, struct tk_abi_error *err), (d, ns, err))
FAILING(memory_load, (struct tk_device * d, double ns, double share, struct tk_abi_error *err),
        (d, ns, share, err))

static struct tk_device_ops failing_ops(void)
{
	struct tk_device_ops ops = *real;
	ops.info = failing_info;
	ops.alloc = failing_alloc;
	ops.upload = failing_upload;
	ops.download = failing_download;
	ops.stream_new = failing_stream_new;
	ops.synchronize = failing_synchronize;
	ops.event_new = failing_event_new;
	ops.event_record = failing_event_record;
	ops.event_elapsed_ns = failing_event_elapsed_ns;
	ops.telemetry = failing_telemetry;
	ops.graph_begin = failing_graph_begin;
	ops.graph_launch = failing_graph_launch;
	ops.stamp_new = failing_stamp_new;
	ops.stamp_record = failing_stamp_record;
	ops.stamp_mhz = failing_stamp_mhz;
	ops.block_stream = failing_block_stream;
	ops.idle = failing_idle;
	ops.memory_load = failing_memory_load;
	return ops;
}

/* Whichever call fails, first or later: the job has that outcome with the device's message, all
 * that it made is given back, and the next job on the device is done. */
static void every_failure_of_a_device_is_an_outcome(void **state)
{
	static const char *const names[] = {"info", "alloc", "upload", "download", "stream_new",
	        "synchronize", "event_new", "event_record", "event_elapsed_ns", "telemetry",
	        "graph_begin", "graph_launch", "stamp_new", "stamp_record", "stamp_mhz",
	        "block_stream", "idle", "memory_load"};
	struct tk_measure_options o = defaults;
	struct rig r;
	char message[64];
	rig_up(&r, "noise=0,capturable=1");
	real = r.ops;
	struct tk_device_ops ops = failing_ops();
	o.mode = TK_MODE_CONTENDED;
	o.stop.max_samples = 12;
	for (size_t i = 0; i < COUNT(names); i++) {
		size_t failed = 0;
		failing = names[i];
		snprintf(message, sizeof message, "%s fell off the bus", failing);
		for (int at = 0; at < 40; at = at * 2 + 1) {
			atomic_store(&calls_left, at);
			r.ops = &ops;
			measure(&r, PROBLEM, &o);
			r.ops = real;
			if (atomic_load(&calls_left) >= 0) { /* it has not so many calls */
				assert_int_equal(r.m.outcome, TK_OUTCOME_OK);
				break;
			}
			/* copies of verified outputs are kept where there is memory for them */
			if (strcmp(failing, "alloc") == 0 && at > 0 && r.m.outcome == TK_OUTCOME_OK)
				continue;
			if (r.m.outcome != TK_OUTCOME_FAILED || !strstr(r.m.message, message))
				fail_msg("%s, call %d: %s: \"%s\"", failing, at,
				        tk_outcome_name(r.m.outcome), r.m.message);
			failed++;
		}
		assert_true(failed > 0);
	}
	measure(&r, PROBLEM, &o);
	assert_int_equal(r.m.outcome, TK_OUTCOME_OK);
	rig_down(&r);
}

/* ---- times ---- */

static double reported_ns, odd_ns;
static int odd_at, elapsed_calls;

static int elapsed_as_told(
        struct tk_device *d, void *from, void *to, double *ns, struct tk_abi_error *err)
{
	(void)d, (void)from, (void)to, (void)err;
	*ns = ++elapsed_calls == odd_at ? odd_ns : reported_ns;
	return TK_ABI_OK;
}

/* Measures on a device whose samples take `ns`, but number `at` (0: none) `odd`. */
static void measure_times(
        struct rig *r, double ns, int at, double odd, const struct tk_measure_options *o)
{
	struct tk_device_ops ops = *real;
	ops.event_elapsed_ns = elapsed_as_told;
	r->ops = &ops;
	reported_ns = ns;
	odd_at = at;
	odd_ns = odd;
	elapsed_calls = 0;
	measure(r, PROBLEM, o);
	r->ops = real;
}

/* A clock that was set back, or has no value: not a sample, at the beginning and in the middle. */
static void times_that_cannot_be_end_the_job(void **state)
{
	static const double odd[] = {-1, -1e-9, NAN, INFINITY, -INFINITY};
	struct rig r;
	char message[64];
	rig_up(&r, "noise=0");
	real = r.ops;
	for (size_t i = 0; i < COUNT(odd); i++)
		for (int at = 1; at < 20; at += 17) {
			measure_times(&r, 1000, at, odd[i], &defaults);
			snprintf(message, sizeof message, "the device reported %g ns", odd[i]);
			if (r.m.outcome != TK_OUTCOME_FAILED || !strstr(r.m.message, message))
				fail_msg("%g at %d: %s: \"%s\"", odd[i], at,
				        tk_outcome_name(r.m.outcome), r.m.message);
		}
	rig_down(&r);
}

static void equal_samples_are_as_tight_as_can_be(void **state)
{
	struct rig r;
	rig_up(&r, "noise=0");
	real = r.ops;
	measure_times(&r, 1234, 0, 0, &defaults);
	assert_int_equal(r.m.outcome, TK_OUTCOME_OK);
	assert_int_equal(r.m.stop, TK_STOP_TIGHT);
	assert_int_equal(r.m.sample_count, defaults.stop.min_samples);
	assert_true(r.m.lo == 1234 && r.m.hi == 1234 && r.m.summary.median == 1234);
	assert_true(r.m.summary.min == 1234 && r.m.summary.max == 1234 && r.m.summary.mad == 0);
	rig_down(&r);
}

/* The median does not follow one sample that took a second, first or last. */
static void one_outlier_does_not_matter(void **state)
{
	struct tk_measure_options o = defaults;
	struct rig r;
	size_t seen = 0;
	rig_up(&r, "noise=0");
	real = r.ops;
	o.stop.min_samples = 20;
	for (int at = 1; at <= 60; at++) {
		measure_times(&r, 1000, at, 1e9, &o);
		assert_int_equal(r.m.outcome, TK_OUTCOME_OK);
		assert_true(r.m.summary.median == 1000 && r.m.hi == 1000);
		seen += r.m.summary.max == 1e9; /* else it was not among the samples */
	}
	assert_true(seen >= 15);
	rig_down(&r);
}

/* The interval between the smallest and the largest of n samples has confidence 1 - 2^(1 - n). */
static void an_interval_needs_enough_samples(void **state)
{
	static const struct {
		double confidence;
		size_t needed;
	} cases[] = {{0.5, 2}, {0.9, 5}, {0.95, 6}, {0.99, 8}, {0.999, 11}};
	struct rig r;
	rig_up(&r, "noise=0");
	real = r.ops;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (size_t n = cases[i].needed - 1; n <= cases[i].needed; n++) {
			struct tk_measure_options o = defaults;
			o.stop.confidence = cases[i].confidence;
			o.stop.min_samples = o.stop.max_samples = n;
			measure_times(&r, 1000, 0, 0, &o);
			assert_int_equal(r.m.sample_count, n);
			assert_int_equal(r.m.outcome,
			        n < cases[i].needed ? TK_OUTCOME_UNSTABLE : TK_OUTCOME_OK);
			assert_true((strstr(r.m.message, "too few samples") != NULL) ==
			            (n < cases[i].needed));
		}
	rig_down(&r);
}

/* ---- clocks and throttling ---- */

static double mhz_now, low_mhz, needed_gap_ns, last_gap_ns, gap_sum_ns, gap_min_ns, gap_max_ns;
static int stamp_calls, low_at, gaps;

static int stamp_as_told(
        struct tk_device *d, void *from, void *to, double *mhz, struct tk_abi_error *err)
{
	(void)d, (void)from, (void)to, (void)err;
	stamp_calls++;
	*mhz = low_at && stamp_calls % low_at == 0 ? low_mhz : mhz_now;
	return TK_ABI_OK;
}

static struct tk_telemetry told;

static int telemetry_as_told(
        struct tk_device *d, struct tk_telemetry *out, struct tk_abi_error *err)
{
	int status = real->telemetry(d, out, err);
	out->throttled = told.throttled;
	memcpy(out->reasons, told.reasons, sizeof out->reasons);
	return status;
}

/* Every `each`-th sample at another clock; 0: none. */
static void measure_clocks(struct rig *r, double mhz, int each, double other)
{
	struct tk_device_ops ops = *real;
	ops.stamp_mhz = stamp_as_told;
	ops.telemetry = telemetry_as_told;
	mhz_now = mhz;
	low_at = each;
	low_mhz = other;
	stamp_calls = 0;
	r->ops = &ops;
	measure(r, PROBLEM, &defaults);
	r->ops = real;
}

static void samples_at_a_lower_clock_are_counted(void **state)
{
	struct rig r;
	rig_up(&r, "noise=0");
	real = r.ops;
	told = (struct tk_telemetry){0};
	measure_clocks(&r, 1500, 0, 0);
	assert_int_equal(r.m.throttled_samples, 0);
	assert_float_equal(r.m.clock_mhz, 1500, 0);
	assert_float_equal(r.m.clock_min_mhz, 1500, 0);
	assert_float_equal(r.m.cycles, 1.5 * r.m.summary.median, 1e-6 * r.m.cycles);
	measure_clocks(&r, NAN, 0, 0); /* unknown, not 0 */
	assert_int_equal(r.m.outcome, TK_OUTCOME_OK);
	assert_true(isnan(r.m.clock_mhz) && isnan(r.m.clock_min_mhz) && isnan(r.m.cycles));
	measure_clocks(&r, 1500, 2, NAN); /* some are unknown */
	assert_float_equal(r.m.clock_mhz, 1500, 0);
	assert_float_equal(r.m.clock_min_mhz, 1500, 0);
	rig_down(&r);
}

/* With clocks of its own the device knows better than its telemetry whether a power limit hit the
 * samples; any other reason counts. */
static void reasons_of_throttling(void **state)
{
	static const struct {
		const char *reasons;
		bool throttled;
	} cases[] = {{"sw_power_cap", false}, {"thermal", true}, {"sw_power_cap,thermal", true},
	        {"sw_power_ca", true}};
	struct rig r;
	rig_up(&r, "noise=0");
	real = r.ops;
	for (size_t i = 0; i < COUNT(cases); i++) {
		told = (struct tk_telemetry){.throttled = 1};
		snprintf(told.reasons, sizeof told.reasons, "%s", cases[i].reasons);
		measure_clocks(&r, 1500, 0, 0);
		assert_int_equal(r.m.throttled_samples, cases[i].throttled ? r.m.sample_count : 0);
		assert_int_equal(
		        r.m.outcome, cases[i].throttled ? TK_OUTCOME_THROTTLED : TK_OUTCOME_OK);
		if (cases[i].throttled)
			assert_non_null(strstr(r.m.message, cases[i].reasons));
		struct tk_device_ops ops = *real; /* telemetry is all there is */
		ops.telemetry = telemetry_as_told;
		ops.stamp_new = NULL;
		ops.stamp_record = NULL;
		ops.stamp_mhz = NULL;
		r.ops = &ops;
		measure(&r, PROBLEM, &defaults);
		r.ops = real;
		assert_int_equal(r.m.throttled_samples, r.m.sample_count);
		assert_true(isnan(r.m.clock_mhz));
	}
	rig_down(&r);
}

/* ---- paced ---- */

static int idle_and_remember(struct tk_device *d, double ns, struct tk_abi_error *err)
{
	last_gap_ns = ns;
	gap_sum_ns += ns;
	gap_min_ns = fmin(gap_min_ns, ns);
	gap_max_ns = fmax(gap_max_ns, ns);
	gaps++;
	return real->idle(d, ns, err);
}

/* The first window has the full clock; later ones only behind a gap that is long enough. */
static int stamp_by_gap(
        struct tk_device *d, void *from, void *to, double *mhz, struct tk_abi_error *err)
{
	(void)d, (void)from, (void)to, (void)err;
	*mhz = gaps <= 3 || last_gap_ns >= needed_gap_ns ? 1000 : 800;
	return TK_ABI_OK;
}

static void measure_paced(struct rig *r, double needed_ns, double given_ns)
{
	struct tk_device_ops ops = *real;
	struct tk_measure_options o = defaults;
	ops.idle = idle_and_remember;
	ops.stamp_mhz = stamp_by_gap;
	o.mode = TK_MODE_PACED;
	o.idle_gap_ns = given_ns;
	needed_gap_ns = needed_ns;
	last_gap_ns = gap_sum_ns = gap_max_ns = 0;
	gap_min_ns = INFINITY;
	gaps = 0;
	r->ops = &ops;
	measure(r, PROBLEM, &o);
	r->ops = real;
}

static void the_idle_gap_grows_until_the_clock_stays_up(void **state)
{
	struct rig r;
	rig_up(&r, "noise=0");
	real = r.ops;
	measure_paced(&r, 0, 0);
	assert_int_equal(r.m.outcome, TK_OUTCOME_OK);
	assert_float_equal(r.m.idle_gap_ns, 3e6, 0); /* the shortest is enough */
	/* each gap is up to 30 % longer or shorter, and their mean is the gap */
	assert_true(gap_min_ns >= 0.7 * 3e6 && gap_max_ns <= 1.3 * 3e6);
	assert_true(gap_max_ns - gap_min_ns > 0.2 * 3e6);
	assert_float_equal(gap_sum_ns / gaps, 3e6, 0.25 * 3e6);
	measure_paced(&r, 10e6, 0);
	assert_int_equal(r.m.outcome, TK_OUTCOME_OK);
	assert_true(r.m.idle_gap_ns > 10e6 && r.m.idle_gap_ns < 30e6);
	assert_float_equal(r.m.clock_mhz, 1000, 0);
	measure_paced(&r, INFINITY, 0); /* never: the longest one, and the samples are limited */
	assert_float_equal(r.m.idle_gap_ns, 100e6, 0);
	assert_true(r.m.throttled_samples == r.m.sample_count && r.m.sample_count > 0);
	assert_int_equal(r.m.outcome, TK_OUTCOME_THROTTLED);
	measure_paced(&r, INFINITY, 5e6); /* as the caller wants it */
	assert_float_equal(r.m.idle_gap_ns, 5e6, 0);
	rig_down(&r);
}

/* Paced rests between bursts; sustained launches back to back. */
static void paced_rests_and_sustained_does_not(void **state)
{
	struct rig r;
	struct tk_measure_options o = defaults;
	rig_up(&r, "noise=0");
	real = r.ops;
	measure_paced(&r, 0, 0);
	assert_true(gaps >= (int)r.m.sample_count && r.m.sample_count >= 11);
	uint64_t paced_launches = r.m.launches_per_sample;
	assert_true(isnan(r.m.energy_j)); /* it would be that of the gaps as well */
	struct tk_device_ops ops = *real;
	ops.idle = idle_and_remember;
	gaps = 0;
	o.mode = TK_MODE_SUSTAINED;
	r.ops = &ops;
	measure(&r, PROBLEM, &o);
	r.ops = real;
	assert_int_equal(r.m.outcome, TK_OUTCOME_OK);
	assert_int_equal(gaps, 0);
	assert_true(r.m.idle_gap_ns == 0);
	assert_true(r.m.launches_per_sample > 20 * paced_launches);
	rig_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_failure_of_a_device_is_an_outcome),
	        cmocka_unit_test(times_that_cannot_be_end_the_job),
	        cmocka_unit_test(equal_samples_are_as_tight_as_can_be),
	        cmocka_unit_test(one_outlier_does_not_matter),
	        cmocka_unit_test(an_interval_needs_enough_samples),
	        cmocka_unit_test(samples_at_a_lower_clock_are_counted),
	        cmocka_unit_test(reasons_of_throttling),
	        cmocka_unit_test(the_idle_gap_grows_until_the_clock_stays_up),
	        cmocka_unit_test(paced_rests_and_sustained_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
