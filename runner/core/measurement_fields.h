/* The fields of one measurement, declared once. The worker writes and checks its answers by these
 * rows (worker/answer.c), the answer is stored as the attributes of a run, and readers get
 * a key by its id, so that each key is written only here. docs/reference/worker-protocol.md
 * describes the fields. */
#ifndef TK_CORE_MEASUREMENT_FIELDS_H
#define TK_CORE_MEASUREMENT_FIELDS_H
#include <jansson.h>
#include <stdint.h>

#define TK_MEASUREMENT_SAMPLES_MAX 1000000

/* id, key, kind, presence, max, member, unit, title
 * The order is the order on the wire.
 * kind: how the C struct stores the value, or the list of the members of an object. Only
 *   worker/answer.c expands this column and the next three.
 * presence: ALWAYS; TIMED: required when the outcome has a timing; IF_TIMED: not written otherwise;
 *   RESULT: both; KNOWN: not written while unknown; 0: optional.
 * max: largest valid value, bytes of the longest valid text.
 * member: of the C struct that the list describes; "-" if the caller writes the value.
 * unit: as for tk_format_value(); "" if there is none. title: for people. */
/* clang-format off */

/* struct tk_measurement */
#define TK_MEASUREMENT_FIELDS(X) \
	X(TK_MEASUREMENT_OUTCOME, "outcome", OUTCOME, ALWAYS, 32, outcome, "", "Outcome") \
	X(TK_MEASUREMENT_MESSAGE, "message", TEXT, ALWAYS, 1024, message, "", "Message") \
	X(TK_MEASUREMENT_SAMPLES, "samples", SAMPLES, RESULT, 0, -, "ns", "Samples") \
	X(TK_MEASUREMENT_LAUNCHES_PER_SAMPLE, "launches_per_sample", U64, RESULT, 1e9, \
		launches_per_sample, "", "Launches per sample") \
	X(TK_MEASUREMENT_MEDIAN, "median", REAL, RESULT, 1e18, summary.median, "ns", "Median") \
	X(TK_MEASUREMENT_LO, "lo", REAL, RESULT, 1e18, lo, "ns", "Lower end of the interval") \
	X(TK_MEASUREMENT_HI, "hi", REAL, RESULT, 1e18, hi, "ns", "Upper end of the interval") \
	X(TK_MEASUREMENT_CONFIDENCE, "confidence", REAL, RESULT, 1, confidence, "", "Confidence") \
	X(TK_MEASUREMENT_N, "n", U64, RESULT, TK_MEASUREMENT_SAMPLES_MAX, sample_count, "", \
		"Number of samples") \
	X(TK_MEASUREMENT_MIN, "min", REAL, RESULT, 1e18, summary.min, "ns", "Minimum") \
	X(TK_MEASUREMENT_Q25, "q25", REAL, RESULT, 1e18, summary.q25, "ns", "Lower quartile") \
	X(TK_MEASUREMENT_Q75, "q75", REAL, RESULT, 1e18, summary.q75, "ns", "Upper quartile") \
	X(TK_MEASUREMENT_P95, "p95", REAL, RESULT, 1e18, summary.p95, "ns", "95th percentile") \
	X(TK_MEASUREMENT_STOP, "stop", STOP, RESULT, 16, stop, "", "Stopped by") \
	X(TK_MEASUREMENT_LAUNCH_NS, "launch_ns", REAL_OR_NULL, RESULT, 1e18, launch_ns, "ns", \
		"Launch cost") \
	X(TK_MEASUREMENT_THROTTLED_SAMPLES, "throttled_samples", U64, RESULT, \
		TK_MEASUREMENT_SAMPLES_MAX, throttled_samples, "", "Throttled samples") \
	X(TK_MEASUREMENT_CLOCK_MHZ, "clock_mhz", REAL_OR_NULL, IF_TIMED, 1e7, clock_mhz, "MHz", \
		"Clock") \
	X(TK_MEASUREMENT_CLOCK_MIN_MHZ, "clock_min_mhz", REAL_OR_NULL, IF_TIMED, 1e7, \
		clock_min_mhz, "MHz", "Lowest clock") \
	X(TK_MEASUREMENT_CYCLES, "cycles", REAL_OR_NULL, IF_TIMED, 1e18, cycles, "", "Cycles") \
	X(TK_MEASUREMENT_IDLE_GAP_NS, "idle_gap_ns", REAL, IF_TIMED, 1e18, idle_gap_ns, "ns", \
		"Idle gap") \
	X(TK_MEASUREMENT_ENERGY_J, "energy_j", REAL_OR_NULL, IF_TIMED, 1e15, energy_j, "J", \
		"Energy") \
	X(TK_MEASUREMENT_IN_CONTEXT_RATIO, "in_context_ratio", REAL_OR_NULL, \
		IF_TIMED | KNOWN, 1e9, sequence.ratio, "ratio", "In-context ratio") \
	X(TK_MEASUREMENT_IN_CONTEXT_RATIO_LO, "in_context_ratio_lo", REAL_OR_NULL, \
		IF_TIMED | KNOWN, 1e9, sequence.ratio_lo, "ratio", \
		"Lower end of the in-context ratio") \
	X(TK_MEASUREMENT_IN_CONTEXT_RATIO_HI, "in_context_ratio_hi", REAL_OR_NULL, \
		IF_TIMED | KNOWN, 1e9, sequence.ratio_hi, "ratio", \
		"Upper end of the in-context ratio") \
	X(TK_MEASUREMENT_ALONE_NS, "alone_ns", REAL_OR_NULL, IF_TIMED | KNOWN, 1e18, \
		sequence.alone_ns, "ns", "Time alone") \
	X(TK_MEASUREMENT_ALONE_MHZ, "alone_mhz", REAL_OR_NULL, IF_TIMED | KNOWN, 1e7, \
		sequence.alone_mhz, "MHz", "Clock alone") \
	X(TK_MEASUREMENT_EVENT_COST_NS, "event_cost_ns", REAL_OR_NULL, IF_TIMED | KNOWN, 1e18, \
		sequence.event_cost_ns, "ns", "Cost of two events") \
	X(TK_MEASUREMENT_SEQUENCE_NS, "sequence_ns", REAL_OR_NULL, IF_TIMED | KNOWN, 1e18, \
		sequence.round_ns, "ns", "Time of the sequence") \
	X(TK_MEASUREMENT_SEQUENCE_STEPS, "sequence_kernels", U64, IF_TIMED | KNOWN, 1e6, \
		sequence.kernels, "", "Other kernels of the sequence") \
	X(TK_MEASUREMENT_TELEMETRY, "telemetry", TELEMETRY_PAIR, RESULT, 0, -, "", "Telemetry") \
	X(TK_MEASUREMENT_FLOPS, "flops", REAL, TIMED | KNOWN, 1e30, flops, "", \
		"Floating-point operations") \
	X(TK_MEASUREMENT_BYTES, "bytes", REAL, TIMED | KNOWN, 1e30, bytes, "bytes", "Bytes moved") \
	X(TK_MEASUREMENT_WARMUP_S, "warmup_s", REAL, TIMED, 1e9, warmup_s, "s", "Warm-up") \
	X(TK_MEASUREMENT_MEASURE_S, "measure_s", REAL, TIMED, 1e9, measure_s, "s", "Measuring") \
	X(TK_MEASUREMENT_SETUP_S, "setup_s", REAL, TIMED, 1e9, setup_s, "s", "Setup") \
	X(TK_MEASUREMENT_INPUTS_S, "inputs_s", REAL, 0, 1e9, inputs_s, "s", "Filling the inputs") \
	X(TK_MEASUREMENT_PLAN_S, "plan_s", REAL, 0, 1e9, plan_s, "s", "Planning") \
	X(TK_MEASUREMENT_VERIFY_S, "verify_s", REAL, TIMED, 1e9, verify_s, "s", "Verification") \
	X(TK_MEASUREMENT_VERIFY, "verify", VERIFY, TIMED, 0, verdict, "", "Verification") \
	X(TK_MEASUREMENT_CHECK_SEED, "check_seed", U64, 0, 1e16, check_seed, "", \
		"Seed of the checks") \
	X(TK_MEASUREMENT_MARKS, "marks", U32, 0, 1e9, marks, "", \
		"Outputs checked between samples") \
	X(TK_MEASUREMENT_PLAN, "plan", PLAN, TIMED, 0, plan, "", "Plan") \
	X(TK_MEASUREMENT_SETS, "sets", U32, TIMED, 1e6, sets, "", "Input sets") \
	X(TK_MEASUREMENT_MODE, "mode", MODE, 0, 16, mode, "", "Mode") \
	X(TK_MEASUREMENT_DEVICE_BYTES, "device_bytes", U64, 0, 1e18, device_bytes, "bytes", \
		"Device memory")

/* struct tk_verify_result, in "verify" */
#define TK_MEASUREMENT_VERIFY_FIELDS(X) \
	X(TK_MEASUREMENT_VERIFY_DONE, "done", FLAG, ALWAYS, 0, done, "", "Verified") \
	X(TK_MEASUREMENT_VERIFY_PASSED, "passed", FLAG, ALWAYS, 0, passed, "", "Passed") \
	X(TK_MEASUREMENT_VERIFY_METHOD, "method", TEXT, ALWAYS, 64, method, "", "Method") \
	X(TK_MEASUREMENT_VERIFY_MAX_ERROR, "max_error", REAL_OR_NULL, ALWAYS, INFINITY, max_error, \
		"", "Largest error") \
	X(TK_MEASUREMENT_VERIFY_TOLERANCE, "tolerance", REAL_OR_NULL, ALWAYS, INFINITY, tolerance, \
		"", "Tolerance") \
	X(TK_MEASUREMENT_VERIFY_CHECKED, "checked", I64, ALWAYS, 1e18, checked, "", \
		"Entries checked") \
	X(TK_MEASUREMENT_VERIFY_DETAIL, "detail", TEXT, ALWAYS, 512, detail, "", "Detail")

/* struct tk_plan_info, in "plan" */
#define TK_MEASUREMENT_PLAN_FIELDS(X) \
	X(TK_MEASUREMENT_PLAN_KERNEL, "kernel", TEXT, TIMED, 256, kernel, "", "Function") \
	X(TK_MEASUREMENT_PLAN_ALGORITHM, "algorithm", TEXT, TIMED, 256, algorithm, "", \
		"Algorithm") \
	X(TK_MEASUREMENT_PLAN_WORKSPACE_BYTES, "workspace_bytes", U64, TIMED, 1e18, \
		workspace_bytes, "bytes", "Workspace") \
	X(TK_MEASUREMENT_PLAN_CAPTURABLE, "capturable", FLAG_U32, TIMED, 0, capturable, "", \
		"Capturable") \
	X(TK_MEASUREMENT_PLAN_DETERMINISTIC, "deterministic", FLAG_U32, TIMED, 0, deterministic, \
		"", "Deterministic") \
	X(TK_MEASUREMENT_PLAN_CALL_NS, "call_ns", REAL, KNOWN, 1e9, call_ns, "ns", "Call overhead")

/* struct tk_measurement, in "telemetry" */
#define TK_MEASUREMENT_TELEMETRY_PAIR_FIELDS(X) \
	X(TK_MEASUREMENT_TELEMETRY_BEFORE, "before", TELEMETRY, TIMED, 0, before, "", \
		"Before the samples") \
	X(TK_MEASUREMENT_TELEMETRY_AFTER, "after", TELEMETRY, TIMED, 0, after, "", \
		"After the samples")

/* struct tk_telemetry, in "before" and "after" of "telemetry" */
#define TK_TELEMETRY_FIELDS(X) \
	X(TK_TELEMETRY_CLOCK_MHZ, "clock_mhz", REAL_OR_NULL, TIMED, 1e7, clock_mhz, "MHz", \
		"Clock") \
	X(TK_TELEMETRY_MEMORY_CLOCK_MHZ, "memory_clock_mhz", REAL_OR_NULL, TIMED, 1e7, \
		memory_clock_mhz, "MHz", "Memory clock") \
	X(TK_TELEMETRY_POWER_W, "power_w", REAL_OR_NULL, TIMED, 1e7, power_w, "W", "Power") \
	X(TK_TELEMETRY_TEMPERATURE_C, "temperature_c", REAL_OR_NULL, TIMED, 1e4, temperature_c, \
		"°C", "Temperature") \
	X(TK_TELEMETRY_ENERGY_J, "energy_j", REAL_OR_NULL, TIMED, 1e15, energy_j, "J", \
		"Energy counter") \
	X(TK_TELEMETRY_LOAD, "load", REAL_OR_NULL, TIMED, 1e7, load, "", "Load") \
	X(TK_TELEMETRY_THROTTLED, "throttled", FLAG_U32, TIMED, 0, throttled, "", "Throttled") \
	X(TK_TELEMETRY_REASONS, "reasons", TEXT, TIMED, 128, reasons, "", "Reasons for throttling")
/* clang-format on */

enum tk_measurement_field {
#define TK_MEASUREMENT_FIELD_ENUM(id, key, kind, presence, max, member, unit, title) id,
	TK_MEASUREMENT_FIELDS(TK_MEASUREMENT_FIELD_ENUM) TK_MEASUREMENT_VERIFY_FIELDS(
	        TK_MEASUREMENT_FIELD_ENUM) TK_MEASUREMENT_PLAN_FIELDS(TK_MEASUREMENT_FIELD_ENUM)
	        TK_MEASUREMENT_TELEMETRY_PAIR_FIELDS(TK_MEASUREMENT_FIELD_ENUM)
	                TK_TELEMETRY_FIELDS(TK_MEASUREMENT_FIELD_ENUM)
#undef TK_MEASUREMENT_FIELD_ENUM
	                        TK_MEASUREMENT_FIELD_COUNT
};

const char *tk_measurement_field_key(enum tk_measurement_field field);
const char *tk_measurement_field_unit(enum tk_measurement_field field); /* "": none */
const char *tk_measurement_field_title(enum tk_measurement_field field);

/* Of `object`, which has the field itself: a measurement, or its "plan" and so on. NULL: it is
 * missing, or `object` is NULL. Borrowed. */
json_t *tk_measurement_get_field(const json_t *object, enum tk_measurement_field field);
/* fallback: it is missing, or not a number. */
double tk_measurement_get_number(
        const json_t *object, enum tk_measurement_field field, double fallback);
void tk_measurement_set_text(json_t *object, enum tk_measurement_field field, const char *text);

/* The time of a measurement, in ns, and the clock. NAN: not known; n 0: there is none. */
struct tk_measured_time {
	double median, lo, hi, min, q25, q75, p95, clock_mhz;
	int64_t n;
};
struct tk_measured_time tk_measurement_read_time(const json_t *result); /* NULL: none */

#endif
