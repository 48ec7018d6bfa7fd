/* See kernel_report.h. */
#include "core/kernel_report.h"

TK_VOCABULARY(kernel_report, "kind of kernel report", TK_KERNEL_REPORTS);
