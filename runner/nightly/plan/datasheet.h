/* What vendors promise: dense peak rates and memory bandwidths of devices, by the name that their
 * driver gives. Rooflines show them beside what is measured. */
#ifndef TK_DATASHEET_H
#define TK_DATASHEET_H
#include <stddef.h>

struct tk_error;
struct tk_night;
struct tk_night_device;

struct tk_datasheet {
	const char *device;          /* as fnmatch(3) reads it */
	double bf16, fp8, tf32, f32; /* TFLOP/s without sparsity, 0: none; f16 is as bf16 */
	double memory;               /* TB/s */
	const char *source;
};

/* NULL where the name is not known. */
const struct tk_datasheet *tk_datasheet_find(const char *device_name);
/* Stores the ceilings of a device for this night, source `datasheet`; nothing where it is not
 * known. */
int tk_night_put_datasheet(
        struct tk_night *n, const struct tk_night_device *d, struct tk_error *err);

#endif
