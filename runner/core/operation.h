/* The operations that backends declare (enum tk_operation of the contract) and their names. */
#ifndef TK_CORE_OPERATION_H
#define TK_CORE_OPERATION_H
#include "core/problem.h"

/* The operation that a backend has to do for this problem. */
uint32_t tk_problem_operation(const struct tk_problem_spec *p);
/* "gemm", "attention-backward"; NULL: not one bit, or unknown. */
const char *tk_operation_name(uint32_t operation);
/* 0: unknown. */
uint32_t tk_operation_parse(const char *name);

#endif
