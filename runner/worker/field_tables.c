/* See fields.h. docs/reference/worker-protocol.md describes the members. */
#include "measure/measure.h"
#include "worker/fields.h"
#include "worker/wire.h"
#include <math.h>

/* clang-format off */
#define AT(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define REAL(key, flags, max, type, member) {key, TK_FIELD_REAL, flags, max, TK_STORED_DOUBLE, AT(type, member), NULL}
#define REAL_OR_NULL(key, flags, max, type, member) \
	{key, TK_FIELD_REAL_OR_NULL, flags, max, TK_STORED_DOUBLE, AT(type, member), NULL}
#define U64(key, flags, max, type, member) {key, TK_FIELD_COUNT, flags, max, TK_STORED_U64, AT(type, member), NULL}
#define I64(key, flags, max, type, member) {key, TK_FIELD_COUNT, flags, max, TK_STORED_I64, AT(type, member), NULL}
#define U32(key, flags, max, type, member) {key, TK_FIELD_COUNT, flags, max, TK_STORED_U32, AT(type, member), NULL}
#define FLAG(key, flags, type, member) {key, TK_FIELD_FLAG, flags, 0, TK_STORED_BOOL, AT(type, member), NULL}
#define FLAG_U32(key, flags, type, member) {key, TK_FIELD_FLAG, flags, 0, TK_STORED_U32, AT(type, member), NULL}
#define TEXT(key, flags, max, type, member) {key, TK_FIELD_TEXT, flags, max, TK_STORED_CHARS, AT(type, member), NULL}
#define POINTER(key, flags, max, type, member) {key, TK_FIELD_TEXT, flags, max, TK_STORED_POINTER, AT(type, member), NULL}
#define WORD(key, flags, max, storage, type, member) {key, TK_FIELD_TEXT, flags, max, storage, AT(type, member), NULL}
#define OBJECT(key, flags, fields, type, member) {key, TK_FIELD_OBJECT, flags, 0, TK_STORED_MEMBERS, AT(type, member), fields}
#define EXTERNAL(key, kind, flags, max) {key, kind, flags, max, TK_STORED_ELSEWHERE, 0, 0, NULL}
#define END {NULL, TK_FIELD_REAL, 0, 0, TK_STORED_ELSEWHERE, 0, 0, NULL}

enum { ALWAYS = TK_FIELD_REQUIRED, TIMED = TK_FIELD_REQUIRED_IF_TIMED, RESULT = TIMED | TK_FIELD_ONLY_IF_TIMED,
	IF_TIMED = TK_FIELD_ONLY_IF_TIMED, KNOWN = TK_FIELD_ONLY_IF_KNOWN };

static const struct tk_field telemetry_fields[] = {
	REAL_OR_NULL("clock_mhz", TIMED, 1e7, tk_telemetry, clock_mhz),
	REAL_OR_NULL("memory_clock_mhz", TIMED, 1e7, tk_telemetry, memory_clock_mhz),
	REAL_OR_NULL("power_w", TIMED, 1e7, tk_telemetry, power_w),
	REAL_OR_NULL("temperature_c", TIMED, 1e4, tk_telemetry, temperature_c),
	REAL_OR_NULL("energy_j", TIMED, 1e15, tk_telemetry, energy_j),
	REAL_OR_NULL("load", TIMED, 1e7, tk_telemetry, load),
	FLAG_U32("throttled", TIMED, tk_telemetry, throttled),
	TEXT("reasons", TIMED, 128, tk_telemetry, reasons),
	END,
};
static const struct tk_field telemetry_pair_fields[] = {
	OBJECT("before", TIMED, telemetry_fields, tk_measurement, before),
	OBJECT("after", TIMED, telemetry_fields, tk_measurement, after),
	END,
};
static const struct tk_field verify_fields[] = {
	FLAG("done", ALWAYS, tk_verify_result, done),
	FLAG("passed", ALWAYS, tk_verify_result, passed),
	TEXT("method", ALWAYS, 64, tk_verify_result, method),
	REAL_OR_NULL("max_error", ALWAYS, INFINITY, tk_verify_result, max_error),
	REAL_OR_NULL("tolerance", ALWAYS, INFINITY, tk_verify_result, tolerance),
	I64("checked", ALWAYS, 1e18, tk_verify_result, checked),
	TEXT("detail", ALWAYS, 512, tk_verify_result, detail),
	END,
};
static const struct tk_field plan_fields[] = {
	TEXT("kernel", TIMED, 256, tk_plan_info, kernel),
	TEXT("algorithm", TIMED, 256, tk_plan_info, algorithm),
	U64("workspace_bytes", TIMED, 1e18, tk_plan_info, workspace_bytes),
	FLAG_U32("capturable", TIMED, tk_plan_info, capturable),
	FLAG_U32("deterministic", TIMED, tk_plan_info, deterministic),
	END,
};

const struct tk_field tk_measurement_fields[] = {
	WORD("outcome", ALWAYS, 32, TK_STORED_OUTCOME, tk_measurement, outcome),
	TEXT("message", ALWAYS, 1024, tk_measurement, message),
	EXTERNAL("samples", TK_FIELD_SAMPLES, RESULT, 0),
	U64("launches_per_sample", RESULT, 1e9, tk_measurement, launches_per_sample),
	REAL("median", RESULT, 1e18, tk_measurement, summary.median),
	REAL("lo", RESULT, 1e18, tk_measurement, lo),
	REAL("hi", RESULT, 1e18, tk_measurement, hi),
	REAL("confidence", RESULT, 1, tk_measurement, confidence),
	U64("n", RESULT, TK_WIRE_SAMPLES_MAX, tk_measurement, sample_count),
	REAL("min", RESULT, 1e18, tk_measurement, summary.min),
	REAL("q25", RESULT, 1e18, tk_measurement, summary.q25),
	REAL("q75", RESULT, 1e18, tk_measurement, summary.q75),
	REAL("p95", RESULT, 1e18, tk_measurement, summary.p95),
	WORD("stop", RESULT, 16, TK_STORED_STOP, tk_measurement, stop),
	REAL_OR_NULL("launch_ns", RESULT, 1e18, tk_measurement, launch_ns),
	U64("throttled_samples", RESULT, TK_WIRE_SAMPLES_MAX, tk_measurement, throttled_samples),
	REAL_OR_NULL("clock_mhz", IF_TIMED, 1e7, tk_measurement, clock_mhz),
	REAL_OR_NULL("clock_min_mhz", IF_TIMED, 1e7, tk_measurement, clock_min_mhz),
	REAL_OR_NULL("cycles", IF_TIMED, 1e18, tk_measurement, cycles),
	REAL("rest_ns", IF_TIMED, 1e18, tk_measurement, idle_gap_ns),
	REAL_OR_NULL("energy_j", IF_TIMED, 1e15, tk_measurement, energy_j),
	{"telemetry", TK_FIELD_OBJECT, RESULT, 0, TK_STORED_MEMBERS, 0, sizeof(struct tk_measurement), telemetry_pair_fields},
	REAL("flops", TIMED | KNOWN, 1e30, tk_measurement, flops),
	REAL("bytes", TIMED | KNOWN, 1e30, tk_measurement, bytes),
	REAL("warmup_s", TIMED, 1e9, tk_measurement, warmup_s),
	REAL("measure_s", TIMED, 1e9, tk_measurement, measure_s),
	REAL("setup_s", TIMED, 1e9, tk_measurement, setup_s),
	REAL("inputs_s", 0, 1e9, tk_measurement, inputs_s),
	REAL("plan_s", 0, 1e9, tk_measurement, plan_s),
	REAL("verify_s", TIMED, 1e9, tk_measurement, verify_s),
	OBJECT("verify", TIMED, verify_fields, tk_measurement, verdict),
	OBJECT("plan", TIMED, plan_fields, tk_measurement, plan),
	U32("sets", TIMED, 1e6, tk_measurement, sets),
	WORD("mode", 0, 16, TK_STORED_MODE, tk_measurement, mode),
	U64("device_bytes", 0, 1e18, tk_measurement, device_bytes),
	END,
};

static const struct tk_field resident_fields[] = {
	U64("l1", KNOWN, 1e18, tk_device_info, resident_bytes[0]),
	U64("l2", KNOWN, 1e18, tk_device_info, resident_bytes[1]),
	U64("l3", KNOWN, 1e18, tk_device_info, resident_bytes[2]),
	END,
};

const struct tk_field tk_device_info_fields[] = {
	TEXT("kind", ALWAYS, 16, tk_device_info, kind),
	TEXT("name", ALWAYS, 128, tk_device_info, name),
	TEXT("uuid", ALWAYS, 80, tk_device_info, uuid),
	TEXT("arch", ALWAYS, 32, tk_device_info, arch),
	U64("memory_bytes", ALWAYS, 1e18, tk_device_info, memory_bytes),
	U64("cache_bytes", ALWAYS, 1e18, tk_device_info, cache_bytes),
	{"resident_bytes", TK_FIELD_OBJECT, 0, 0, TK_STORED_MEMBERS, 0, sizeof(struct tk_device_info), resident_fields},
	U32("compute_units", ALWAYS, 1e9, tk_device_info, compute_units),
	U32("numa_node", ALWAYS, 1e9, tk_device_info, numa_node),
	TEXT("driver", ALWAYS, 64, tk_device_info, driver),
	{"attributes", TK_FIELD_ANY_OBJECT, ALWAYS, 0, TK_STORED_JSON, AT(tk_device_info, attributes), NULL},
	EXTERNAL("count", TK_FIELD_COUNT, ALWAYS, 1e6),
	END,
};

const struct tk_field tk_backend_fields[] = {
	POINTER("name", ALWAYS, 64, tk_backend, name),
	POINTER("description", ALWAYS, 512, tk_backend, description),
	POINTER("device_kind", ALWAYS, 16, tk_backend, device_kind),
	EXTERNAL("version", TK_FIELD_TEXT, ALWAYS, 256),
	EXTERNAL("abi", TK_FIELD_VERSION, ALWAYS, 0),
	END,
};
/* clang-format on */
