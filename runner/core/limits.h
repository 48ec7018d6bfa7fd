/* What a device can do at most: by the vendors' data sheets, found by the name that the driver
 * gives, and by its measured ceilings. And whether a time is possible at all.
 *
 * Each bound holds for every correct kernel, so a time below it is wrong whatever verification
 * says. docs/explanation/verification.md gives the reason for each of them. */
#ifndef TK_CORE_LIMITS_H
#define TK_CORE_LIMITS_H
#include "core/problem.h"
#include "core/vocabulary.h"
#include <jansson.h>

struct tk_datasheet {
	const char *device;          /* name pattern, fnmatch(3) */
	double bf16, fp8, tf32, f32; /* dense, TFLOP/s; 0: not supported; f16 equals bf16 */
	double memory;               /* TB/s */
	double margin; /* what the highest clock exceeds the sheet's by, as a factor */
	const char *source;
};

/* NULL: unknown device. */
const struct tk_datasheet *tk_datasheet_find(const char *device_name);

/* The dense peak rate for the types of the problem's operands (the slower one), in GFLOP/s; 0: the
 * device or the type is not known. */
double tk_datasheet_find_peak(const char *device_name, const struct tk_problem_spec *p);

/* The shortest launch: the name of this ceiling, which is a time, and the problem that is measured
 * for it. */
#define TK_LIMITS_LAUNCH "launch"
#define TK_LIMITS_LAUNCH_PROBLEM "copy:bytes=1,dtype=e4m3"
#define TK_LIMITS_DTYPES (TK_I64 + 1)

/* 0: unknown. */
struct tk_limits {
	double gflop_per_s[TK_LIMITS_DTYPES]; /* by enum tk_dtype of the operands */
	double memory_gb_per_s;               /* main memory */
	double cache_gb_per_s;                /* the fastest memory or cache */
	double cache_bytes;                   /* the last-level cache; 0: memory is no bound */
	double launch_ns;                     /* the shortest time of any launch */
	double measured_launch_ns;            /* the same by a ceiling */
	double cores;                         /* of a CPU: bounds where nothing is measured */
};

struct tk_limits_timing {
	double median_ns;
	double sets; /* input sets that the launches rotated over */
};

/* The limits of a device by its data sheet, of a CPU by what any core can do; rates and bandwidths
 * are unknown for a GPU without one. info: as the device layer describes it; of a CPU its
 * "compute_units" count, and not its caches, which a virtual machine may report too small. */
void tk_limits_init(struct tk_limits *l, enum tk_device_kind kind, const json_t *info);
/* Raises or sets the limits by a measured ceiling: its name ("f32", "read", "l2 read", "launch"),
 * unit and value as they are stored. Never lowers one; rates of a data sheet stay as they are. */
void tk_limits_add_ceiling(struct tk_limits *l, const char *name, const char *unit, double value);
/* Whether the time of this problem is the ceiling TK_LIMITS_LAUNCH. */
bool tk_limits_is_launch(const struct tk_problem_spec *p);

/* False: the time is impossible, and `reason` says by which figures; it is unchanged otherwise. */
bool tk_limits_allow(const struct tk_limits *l, const struct tk_problem_spec *p,
        const struct tk_limits_timing *t, char *reason, size_t size);

#endif
