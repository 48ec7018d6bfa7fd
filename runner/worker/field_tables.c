/* See fields.h. docs/reference/worker-protocol.md describes the members. */
#include "core/measurement_fields.h"
#include "measure/measure.h"
#include "worker/fields.h"
#include <math.h>

/* clang-format off */
#define AT(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define REAL(key, flags, max, type, member) \
	{key, TK_FIELD_REAL, flags, max, TK_STORED_DOUBLE, AT(type, member), NULL}
#define REAL_OR_NULL(key, flags, max, type, member) \
	{key, TK_FIELD_REAL_OR_NULL, flags, max, TK_STORED_DOUBLE, AT(type, member), NULL}
#define U64(key, flags, max, type, member) \
	{key, TK_FIELD_COUNT, flags, max, TK_STORED_U64, AT(type, member), NULL}
#define I64(key, flags, max, type, member) \
	{key, TK_FIELD_COUNT, flags, max, TK_STORED_I64, AT(type, member), NULL}
#define U32(key, flags, max, type, member) \
	{key, TK_FIELD_COUNT, flags, max, TK_STORED_U32, AT(type, member), NULL}
#define FLAG(key, flags, type, member) \
	{key, TK_FIELD_FLAG, flags, 0, TK_STORED_BOOL, AT(type, member), NULL}
#define FLAG_U32(key, flags, type, member) \
	{key, TK_FIELD_FLAG, flags, 0, TK_STORED_U32, AT(type, member), NULL}
#define TEXT(key, flags, max, type, member) \
	{key, TK_FIELD_TEXT, flags, max, TK_STORED_CHARS, AT(type, member), NULL}
#define POINTER(key, flags, max, type, member) \
	{key, TK_FIELD_TEXT, flags, max, TK_STORED_POINTER, AT(type, member), NULL}
#define WORD(key, flags, max, storage, type, member) \
	{key, TK_FIELD_TEXT, flags, max, storage, AT(type, member), NULL}
#define OBJECT(key, flags, fields, type, member) \
	{key, TK_FIELD_OBJECT, flags, 0, TK_STORED_MEMBERS, AT(type, member), fields}
/* An object of members of the struct itself. */
#define PART(key, flags, type, fields) \
	{key, TK_FIELD_OBJECT, flags, 0, TK_STORED_MEMBERS, 0, sizeof(struct type), fields}
#define EXTERNAL(key, kind, flags, max) {key, kind, flags, max, TK_STORED_ELSEWHERE, 0, 0, NULL}
#define END {NULL, TK_FIELD_REAL, 0, 0, TK_STORED_ELSEWHERE, 0, 0, NULL}

enum { ALWAYS = TK_FIELD_REQUIRED, TIMED = TK_FIELD_REQUIRED_IF_TIMED,
	RESULT = TIMED | TK_FIELD_ONLY_IF_TIMED,
	IF_TIMED = TK_FIELD_ONLY_IF_TIMED, KNOWN = TK_FIELD_ONLY_IF_KNOWN };

/* The kinds of core/measurement_fields.h. */
#define KIND_REAL REAL
#define KIND_REAL_OR_NULL REAL_OR_NULL
#define KIND_U64 U64
#define KIND_I64 I64
#define KIND_U32 U32
#define KIND_TEXT TEXT
#define KIND_FLAG(key, flags, max, type, member) FLAG(key, flags, type, member)
#define KIND_FLAG_U32(key, flags, max, type, member) FLAG_U32(key, flags, type, member)
#define KIND_OUTCOME(key, flags, max, type, member) \
	WORD(key, flags, max, TK_STORED_OUTCOME, type, member)
#define KIND_STOP(key, flags, max, type, member) WORD(key, flags, max, TK_STORED_STOP, type, member)
#define KIND_MODE(key, flags, max, type, member) WORD(key, flags, max, TK_STORED_MODE, type, member)
#define KIND_SAMPLES(key, flags, max, type, member) EXTERNAL(key, TK_FIELD_SAMPLES, flags, max)
#define KIND_VERIFY(key, flags, max, type, member) OBJECT(key, flags, verify_fields, type, member)
#define KIND_PLAN(key, flags, max, type, member) OBJECT(key, flags, plan_fields, type, member)
#define KIND_TELEMETRY(key, flags, max, type, member) \
	OBJECT(key, flags, telemetry_fields, type, member)
#define KIND_TELEMETRY_PAIR(key, flags, max, type, member) \
	PART(key, flags, type, telemetry_pair_fields)

#define TELEMETRY_ROW(id, key, kind, presence, max, member, unit, title) \
	KIND_##kind(key, presence, max, tk_telemetry, member),
#define VERIFY_ROW(id, key, kind, presence, max, member, unit, title) \
	KIND_##kind(key, presence, max, tk_verify_result, member),
#define PLAN_ROW(id, key, kind, presence, max, member, unit, title) \
	KIND_##kind(key, presence, max, tk_plan_info, member),
#define MEASUREMENT_ROW(id, key, kind, presence, max, member, unit, title) \
	KIND_##kind(key, presence, max, tk_measurement, member),

static const struct tk_field telemetry_fields[] = {TK_TELEMETRY_FIELDS(TELEMETRY_ROW) END};
static const struct tk_field telemetry_pair_fields[] = {
	TK_MEASUREMENT_TELEMETRY_PAIR_FIELDS(MEASUREMENT_ROW) END};
static const struct tk_field verify_fields[] = {TK_MEASUREMENT_VERIFY_FIELDS(VERIFY_ROW) END};
static const struct tk_field plan_fields[] = {TK_MEASUREMENT_PLAN_FIELDS(PLAN_ROW) END};
const struct tk_field tk_measurement_fields[] = {TK_MEASUREMENT_FIELDS(MEASUREMENT_ROW) END};

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
	PART("resident_bytes", 0, tk_device_info, resident_fields),
	U32("compute_units", ALWAYS, 1e9, tk_device_info, compute_units),
	U32("numa_node", ALWAYS, 1e9, tk_device_info, numa_node),
	TEXT("driver", ALWAYS, 64, tk_device_info, driver),
	{"attributes", TK_FIELD_ANY_OBJECT, ALWAYS, 0, TK_STORED_JSON,
		AT(tk_device_info, attributes), NULL},
	EXTERNAL("count", TK_FIELD_COUNT, ALWAYS, 1e6),
	END,
};

const struct tk_field tk_backend_fields[] = {
	POINTER("name", ALWAYS, 64, tk_backend, name),
	POINTER("description", ALWAYS, 512, tk_backend, description),
	POINTER("device_kind", ALWAYS, 16, tk_backend, device_kind),
	EXTERNAL("version", TK_FIELD_TEXT, ALWAYS, 256),
	EXTERNAL("abi", TK_FIELD_VERSION, ALWAYS, 0),
	EXTERNAL("operations", TK_FIELD_WORDS, 0, 32),
	END,
};
/* clang-format on */
