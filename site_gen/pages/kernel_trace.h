/* What other pages show of a trace. */
#ifndef TK_SITE_KERNEL_TRACE_H
#define TK_SITE_KERNEL_TRACE_H
#include "site_gen/pages/page.h"

struct tk_site_kernel_trace;

void tk_kernel_trace_path(const struct tk_site_kernel_trace *t, char path[TK_PAGE_PATH_SIZE]);
/* when, time, recording ("" where there is a base), runs, tensor_share, wait_share, idle_share. */
void tk_kernel_trace_set_summary(struct tk_value *o, const struct tk_site_kernel_trace *t);

#endif
