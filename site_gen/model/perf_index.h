/* The performance index of a kernel on a device: how the speed of all its series together
 * changed. */
#ifndef TK_SITE_PERF_INDEX_H
#define TK_SITE_PERF_INDEX_H
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_model;
struct tk_site_device;

#define TK_PERF_INDEX_NIGHTS 90

/* Chain-linked: from night to night, the geometric mean of the speed-ups of the series that have
 * a time in this night and an earlier one. A new or missing series does not move it. */
struct tk_perf_index {
	struct {
		int64_t as_of_s;
		double value; /* 1 in the first night */
	} at[TK_PERF_INDEX_NIGHTS];
	size_t count;  /* oldest first */
	size_t series; /* that were compared */
	double lo, hi; /* 95 % interval of the newest value over the series; NAN: unknown */
};

void tk_perf_index_load(const struct tk_model *m, const struct tk_site_device *device,
        const char *op, struct tk_perf_index *out);
/* The change within the newest days: 0.02 for 2 % faster; NAN: the index is younger. */
double tk_perf_index_change(const struct tk_perf_index *index, int days);

#endif
