/* See operation.h. */
#include "core/operation.h"

#include <string.h>

static const struct {
	uint32_t operation;
	const char *name;
} operations[] = {
        {TK_OPERATION_GEMM, "gemm"},
        {TK_OPERATION_ATTENTION, "attention"},
        {TK_OPERATION_ATTENTION_BACKWARD, "attention-backward"},
        {TK_OPERATION_NSA, "nsa"},
        {TK_OPERATION_COPY, "copy"},
        {TK_OPERATION_READ, "read"},
        {TK_OPERATION_FMA, "fma"},
};

uint32_t tk_problem_operation(const struct tk_problem_spec *p)
{
	if (p->abi.op == TK_OP_ATTENTION && p->attention.dir == TK_BWD)
		return TK_OPERATION_ATTENTION_BACKWARD;
	return UINT32_C(1) << p->abi.op;
}

const char *tk_operation_name(uint32_t operation)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (operations[i].operation == operation)
			return operations[i].name;
	return NULL;
}

uint32_t tk_operation_parse(const char *name)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (strcmp(operations[i].name, name) == 0)
			return operations[i].operation;
	return 0;
}
