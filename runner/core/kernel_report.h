/* What was recorded inside the kernels of one problem. */
#ifndef TK_CORE_KERNEL_REPORT_H
#define TK_CORE_KERNEL_REPORT_H
#include "core/vocabulary.h"

#define TK_KERNEL_REPORTS(X) \
	X(TK_KERNEL_REPORT_TRACE, "trace", "regions that the kernels recorded") \
	X(TK_KERNEL_REPORT_PROFILE, "profile", "counters of the device")

enum tk_kernel_report { TK_KERNEL_REPORTS(TK_VOCABULARY_ENUM) TK_KERNEL_REPORT_COUNT };
extern const struct tk_vocabulary tk_kernel_report_words;
const char *tk_kernel_report_name(enum tk_kernel_report value);
int tk_kernel_report_parse(const char *name, enum tk_kernel_report *out);

#endif
