/* The machine code of the kernels that a run may have used. */
#ifndef TK_SHOW_KERNELS_H
#define TK_SHOW_KERNELS_H
#include <jansson.h>

#include "store/query/code_facts.h"

/* The first few of `kernels` (of a build); nothing where there is none. */
void tk_show_print_kernels(const struct tk_rows *kernels, const struct tk_kernel_use *use);
/* All of them, as a list. */
json_t *tk_show_kernels_json(const struct tk_rows *kernels, const struct tk_kernel_use *use);

#endif
