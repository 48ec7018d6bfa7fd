/* Peak rates and memory bandwidths by the vendors' data sheets, found by the name that the driver
 * gives. Rooflines show them beside the measured ceilings; a figure above them is implausible. */
#ifndef TK_CORE_DATASHEET_H
#define TK_CORE_DATASHEET_H
#include <stddef.h>

struct tk_datasheet {
	const char *device;          /* name pattern, fnmatch(3) */
	double bf16, fp8, tf32, f32; /* dense, TFLOP/s; 0: not supported; f16 equals bf16 */
	double memory;               /* TB/s */
	double margin; /* what the highest clock exceeds the sheet's by, as a factor */
	const char *source;
};

/* NULL: unknown device. */
const struct tk_datasheet *tk_datasheet_find(const char *device_name);

struct tk_problem_spec;
/* The dense peak rate for the types of the problem's operands (the slower one), in GFLOP/s; 0: the
 * device or the type is not known. */
double tk_datasheet_find_peak(const char *device_name, const struct tk_problem_spec *p);

#endif
