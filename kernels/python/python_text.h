/* Problems and tensors as JSON, for the adapter. */
#ifndef TK_PYTHON_TEXT_H
#define TK_PYTHON_TEXT_H
#include "tracker_abi.h"

/* Bytes that always suffice. */
#define PYTHON_PROBLEM_SIZE 2048
#define PYTHON_TENSORS_SIZE 4096

/* TK_ABI_UNSUPPORTED: an operation that this host does not know. */
int python_problem_write(const struct tk_problem *p, char *out, struct tk_abi_error *err);
/* Tensors that have no memory are left out. */
void python_tensors_write(const struct tk_tensor *tensors, uint32_t count, char *out);

#endif
