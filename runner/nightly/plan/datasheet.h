/* Peak rates and memory bandwidths by the vendors' data sheets, found by the name that the driver
 * gives. Rooflines show them beside the measured ceilings. */
#ifndef TK_DATASHEET_H
#define TK_DATASHEET_H
#include <stddef.h>

struct tk_error;
struct tk_night;
struct tk_night_device;

struct tk_datasheet {
	const char *device;          /* name pattern, fnmatch(3) */
	double bf16, fp8, tf32, f32; /* dense, TFLOP/s; 0: not supported; f16 equals bf16 */
	double memory;               /* TB/s */
	const char *source;
};

/* NULL: unknown device. */
const struct tk_datasheet *tk_datasheet_find(const char *device_name);
/* Stores the data sheet's ceilings of a device for this night; none for an unknown device. */
int tk_night_put_datasheet(
        struct tk_night *n, const struct tk_night_device *d, struct tk_error *err);

#endif
