/* Copy and read: what the bandwidth ceilings compute. */
#include "reference.h"
#include <string.h>

void tk_reference_copy(const struct tk_tensor *t)
{
	memcpy(t[TK_T_OUT].data, t[TK_T_IN].data, t[TK_T_IN].bytes);
}

void tk_reference_read(const struct tk_tensor *t, int64_t passes)
{
	int64_t n = (int64_t)(t[TK_T_IN].bytes / tk_element_bytes(t[TK_T_IN].dtype));
	int64_t outputs = (int64_t)(t[TK_T_OUT].bytes / tk_element_bytes(t[TK_T_OUT].dtype));
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += tk_element_load(t[TK_T_IN].dtype, t[TK_T_IN].data, i);
	for (int64_t i = 0; i < outputs; i++)
		tk_element_store(
		        t[TK_T_OUT].dtype, t[TK_T_OUT].data, i, i == 0 ? sum * (double)passes : 0);
}
