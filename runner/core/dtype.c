/* Element types: words, sizes, and the spellings that other tools use for them. */
#include <string.h>

#include "base/error.h"
#include "core/problem.h"

/* clang-format off */
static const struct { uint32_t id; const char *word; size_t bytes; } dtypes[] = {
	{ TK_F64, "f64", 8 }, { TK_F32, "f32", 4 }, { TK_TF32, "tf32", 4 }, { TK_F16, "f16", 2 },
	{ TK_BF16, "bf16", 2 },
	{ TK_E4M3, "e4m3", 1 }, { TK_E5M2, "e5m2", 1 }, { TK_I32, "i32", 4 }, { TK_I64, "i64", 8 },
};
/* clang-format on */

/* Accepted from people and from the files of other runners, never written. */
/* clang-format off */
static const struct { const char *word; uint32_t id; } aliases[] = {
	{ "fp64", TK_F64 }, { "float64", TK_F64 }, { "double", TK_F64 },
	{ "fp32", TK_F32 }, { "float32", TK_F32 }, { "float", TK_F32 },
	{ "fp16", TK_F16 }, { "float16", TK_F16 }, { "half", TK_F16 },
	{ "bfloat16", TK_BF16 },
	{ "fp8", TK_E4M3 }, { "e4m3fn", TK_E4M3 }, { "fp8_e4m3", TK_E4M3 },
	{ "float8_e4m3fn", TK_E4M3 },
	{ "fp8_e5m2", TK_E5M2 }, { "float8_e5m2", TK_E5M2 },
	{ "int32", TK_I32 }, { "int64", TK_I64 },
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

const char *tk_dtype_name(uint32_t dtype)
{
	for (size_t i = 0; i < COUNT(dtypes); i++)
		if (dtypes[i].id == dtype)
			return dtypes[i].word;
	return NULL;
}

size_t tk_dtype_bytes(uint32_t dtype)
{
	for (size_t i = 0; i < COUNT(dtypes); i++)
		if (dtypes[i].id == dtype)
			return dtypes[i].bytes;
	return 0;
}

int tk_dtype_parse(const char *word, uint32_t *dtype)
{
	for (size_t i = 0; i < COUNT(dtypes); i++)
		if (strcmp(dtypes[i].word, word) == 0) {
			*dtype = dtypes[i].id;
			return TK_OK;
		}
	for (size_t i = 0; i < COUNT(aliases); i++)
		if (strcmp(aliases[i].word, word) == 0) {
			*dtype = aliases[i].id;
			return TK_OK;
		}
	return TK_EDATA;
}
