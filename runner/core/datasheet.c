/* See datasheet.h. Figures are dense (data sheets like to print twice as much, with 2:4
 * sparsity), at boost clock and full power, which no kernel holds for long. A pattern must match
 * the whole name: an H200 NVL is not an H200.
 *
 * Margins: Hopper's sheets assume 1830 MHz (PCIe: 1620), the driver allows 1980 (1755). A GeForce
 * adds in f16 at twice the rate of f32, and its clocks may be raised by a quarter. */
#include "core/datasheet.h"
#include "core/problem.h"
#include <fnmatch.h>
#include <math.h>

static const struct tk_datasheet datasheets[] = {
        /*                           bf16  fp8   tf32  f32   memory margin */
        {"NVIDIA A100-SXM4-80GB", 312, 0, 156, 19.5, 2.04, 1.02,
                "NVIDIA A100 datasheet, A100 80GB SXM"},
        {"NVIDIA H100 80GB HBM3", 989, 1979, 495, 67, 3.35, 1.09,
                "NVIDIA H100 datasheet, H100 SXM"},
        {"NVIDIA H100 PCIe", 756, 1513, 378, 51, 2.0, 1.09, "NVIDIA H100 datasheet, H100 PCIe"},
        {"NVIDIA H200", 989, 1979, 495, 67, 4.8, 1.09, "NVIDIA H200 datasheet, H200 SXM"},
        {"NVIDIA B200", 2250, 4500, 1130, 75, 8.0, 1.1, "NVIDIA DGX B200 datasheet, an eighth"},
        {"NVIDIA L40S", 362, 733, 183, 91.6, 0.864, 1.05, "NVIDIA L40S datasheet"},
        {"NVIDIA GeForce RTX 4090", 165, 330, 83, 83, 1.01, 2.5,
                "NVIDIA Ada GPU architecture whitepaper, accumulation in f32"},
        {"*Instinct MI210*", 181, 0, 0, 22.6, 1.6, 1.05, "AMD Instinct MI210 datasheet"},
        {"*Instinct MI250X*", 383, 0, 0, 47.9, 3.28, 1.05,
                "AMD Instinct MI250X datasheet, both dies"},
        {"*Instinct MI300X*", 1307, 2615, 654, 163, 5.3, 1.05, "AMD Instinct MI300X datasheet"},
        {"*Instinct MI325X*", 1307, 2615, 654, 163, 6.0, 1.05, "AMD Instinct MI325X datasheet"},
        {"*Instinct MI355X*", 2500, 5000, 0, 157, 8.0, 1.05, "AMD Instinct MI355X datasheet"},
};

const struct tk_datasheet *tk_datasheet_find(const char *device_name)
{
	for (size_t i = 0; device_name && i < sizeof datasheets / sizeof *datasheets; i++)
		if (fnmatch(datasheets[i].device, device_name, 0) == 0)
			return &datasheets[i];
	return NULL;
}

static double find_tflop_per_s(const struct tk_datasheet *s, uint32_t dtype)
{
	switch (dtype) {
	case TK_F16:
	case TK_BF16:
		return s->bf16;
	case TK_E4M3:
	case TK_E5M2:
		return s->fp8;
	case TK_TF32:
		return s->tf32;
	case TK_F32:
		return s->f32;
	default:
		return 0;
	}
}

double tk_datasheet_find_peak(const char *device_name, const struct tk_problem_spec *p)
{
	const struct tk_datasheet *s = tk_datasheet_find(device_name);
	uint32_t dtype;

	if (!s || tk_dtype_parse(tk_problem_dtype_name(p), &dtype))
		return 0;
	return 1e3 * fmin(find_tflop_per_s(s, dtype),
	                     find_tflop_per_s(s, p->abi.op == TK_OP_GEMM ? p->gemm.b : dtype));
}
