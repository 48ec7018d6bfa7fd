/* What was recorded inside the kernels of one problem. */
#ifndef TK_CORE_KERNEL_REPORT_H
#define TK_CORE_KERNEL_REPORT_H
#include "core/vocabulary.h"
#include <jansson.h>
#include <stddef.h>

/* What the comparison of two builds found in one kernel: one of "kernels" of a stored trace. */
#define TK_KERNEL_CAUSE_SIZE 192
#define TK_KERNEL_CHANGE_SIZE 320
struct tk_kernel_change {
	char kernel[64];
	double base_ns, head_ns;
	double share;                     /* of base_ns; 0: no change */
	char cause[TK_KERNEL_CAUSE_SIZE]; /* "softmax +24.4 µs, of which +0.3 µs are exposed" */
};
void tk_kernel_change_read(const json_t *kernel, struct tk_kernel_change *out);
/* "hopper_flash: 2.3 % slower; softmax +24.4 µs, of which +0.3 µs are exposed". Returns out. */
const char *tk_kernel_change_format(
        const struct tk_kernel_change *c, char out[TK_KERNEL_CHANGE_SIZE]);
/* That sentence of the kernel that changed most, from the stored text of a trace; "": it compares
 * nothing. Returns out. */
const char *tk_kernel_report_summarize(const char *result, char out[TK_KERNEL_CHANGE_SIZE]);

#endif
