/* Chooses the instruction set by what the processor and the operating system support. */
#include "isa.h"
#include <string.h>

static int supported(const struct tk_cpu_isa *isa)
{
#ifdef TK_CPU_X86
	if (isa == &tk_cpu_isa_avx512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("fma");
	if (isa == &tk_cpu_isa_avx2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
	return 1;
}

const struct tk_cpu_isa *tk_cpu_isa_find(const char *name, size_t length)
{
	static const struct tk_cpu_isa *const best_first[] = {
#ifdef TK_CPU_X86
	        &tk_cpu_isa_avx512, &tk_cpu_isa_avx2,
#endif
	        &tk_cpu_isa_generic};
	for (size_t i = 0; i < sizeof(best_first) / sizeof(best_first[0]); i++) {
		const struct tk_cpu_isa *isa = best_first[i];
		if (length && (strlen(isa->name) != length || memcmp(isa->name, name, length) != 0))
			continue;
		if (supported(isa))
			return isa;
	}
	return NULL;
}

const struct tk_cpu_gemm_isa *tk_cpu_isa_bf16(const struct tk_cpu_isa *isa)
{
#ifdef TK_CPU_X86
	if (isa == &tk_cpu_isa_avx512 && __builtin_cpu_supports("avx512bf16"))
		return &tk_cpu_gemm_avx512_bf16;
#endif
	return NULL;
}
