/* See limits.h. */
#include "core/limits.h"

#include <fnmatch.h>
#include <math.h>

/* ---- data sheets ----------------------------------------------------------------------------- */

/* Figures are dense (data sheets like to print twice as much, with 2:4
 * sparsity), at boost clock and full power, which no kernel holds for long. A pattern must match
 * the whole name: an H200 NVL is not an H200.
 *
 * Margins: Hopper's sheets assume 1830 MHz (PCIe: 1620), the driver allows 1980 (1755). A GeForce
 * adds in f16 at twice the rate of f32, and its clocks may be raised by a quarter. */
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

/* ---- limits ---------------------------------------------------------------------------------- */

/* The value of f32 from three products of bf16: no rounding of f32 allows fewer. */
#define PRODUCTS_OF_F32 3
/* Without a data sheet the measured ceiling counts. Other work or a lower clock may have slowed it
 * down, and another kernel may be better than the tracker's own. */
#define RATE_MARGIN 2
/* The same for f32, which matrix units emulate: at sixteen times the rate, with three products. */
#define F32_RATE_MARGIN 6
/* Kernels that only read or copy are within a few percent of what a memory can do. */
#define MEMORY_MARGIN 1.25
/* A cache may be read and written at the same time; its ceiling is that of reading. */
#define CACHE_MARGIN 2
/* Levels above the last one hold data too. */
#define CACHES_PER_LAST_LEVEL 1.25
/* Where it is not measured: no GPU starts five million kernels a second one after the other. An
 * H200 starts an empty kernel of a graph every 500 ns, and every 400 ns where the next may begin
 * early. */
#define GPU_LAUNCH_NS 200
/* The shortest launch may have been measured at a lower clock. */
#define LAUNCH_MARGIN 2

void tk_limits_init(struct tk_limits *l, enum tk_device_kind kind, const json_t *info)
{
	const struct tk_datasheet *s =
	        tk_datasheet_find(json_string_value(json_object_get(info, "name")));
	double cache_bytes = json_number_value(json_object_get(info, "cache_bytes"));
	double cores = json_number_value(json_object_get(info, "compute_units"));
	bool is_gpu = kind == TK_DEVICE_CUDA || kind == TK_DEVICE_HIP;

	*l = (struct tk_limits){.cache_bytes = kind == TK_DEVICE_CPU ? 0 : cache_bytes,
	        .launch_ns = is_gpu ? GPU_LAUNCH_NS : 0,
	        .cores = kind == TK_DEVICE_CPU ? fmax(cores, 1) : 0};
	if (!s)
		return;
	double unit = 1e3 * s->margin;
	l->gflop_per_s[TK_F16] = l->gflop_per_s[TK_BF16] = unit * s->bf16;
	l->gflop_per_s[TK_E4M3] = l->gflop_per_s[TK_E5M2] = unit * s->fp8;
	l->gflop_per_s[TK_TF32] = unit * s->tf32;
	l->gflop_per_s[TK_F32] = unit * fmax(s->f32, s->bf16 / PRODUCTS_OF_F32);
	l->memory_gb_per_s = unit * s->memory;
}

static void add_rate(struct tk_limits *l, const char *name, double value)
{
	uint32_t dtype;
	bool has_datasheet = l->gflop_per_s[TK_BF16] > 0;

	if (has_datasheet || tk_dtype_parse(name, &dtype))
		return;
	/* f64 is not measured, and never faster than f32. */
	if (dtype == TK_F32)
		l->gflop_per_s[TK_F64] = fmax(l->gflop_per_s[TK_F64], RATE_MARGIN * value);
	value *= dtype == TK_F32 ? F32_RATE_MARGIN : RATE_MARGIN;
	l->gflop_per_s[dtype] = fmax(l->gflop_per_s[dtype], value);
}

void tk_limits_add_ceiling(struct tk_limits *l, const char *name, const char *unit, double value)
{
	enum tk_unit kind = tk_unit_from_name(unit);

	if (!(value > 0))
		return;
	if (kind == TK_UNIT_GFLOP_PER_S)
		add_rate(l, name, value);
	if (kind == TK_UNIT_NS && !strcmp(name, TK_LIMITS_LAUNCH))
		l->measured_launch_ns = fmax(l->measured_launch_ns, value / LAUNCH_MARGIN);
	if (kind != TK_UNIT_GB_PER_S)
		return;
	/* A set of inputs in a processor's L1 does not pass its L2; a GPU's L1 keeps nothing from
	 * launch to launch. */
	if (!strcmp(name, "l1 read") || (l->cache_bytes > 0 && !strcmp(name, "l2 read")))
		l->cache_gb_per_s = fmax(l->cache_gb_per_s, CACHE_MARGIN * value);
	if (!strcmp(name, "copy") || !strcmp(name, "read"))
		l->memory_gb_per_s = fmax(l->memory_gb_per_s, MEMORY_MARGIN * value);
}

/* What no core of a CPU exceeds, whatever runs beside it: at 6 GHz twice two multiply-adds of 512
 * bits a cycle in f64, AMX in the other types, and four accesses of 64 bytes to its first cache. */
#define CORE_GHZ 6
#define CORE_BYTES 256

static double core_flops(uint32_t dtype)
{
	size_t bytes = dtype < TK_LIMITS_DTYPES ? tk_dtype_bytes(dtype) : 0;

	return bytes == 8   ? 64
	       : bytes == 4 ? 2048.0 / PRODUCTS_OF_F32
	       : bytes      ? 4096.0 / (double)bytes
	                    : 0;
}

static double find_type_rate(const struct tk_limits *l, uint32_t dtype)
{
	double known = dtype < TK_LIMITS_DTYPES ? l->gflop_per_s[dtype] : 0;

	return known > 0 ? known : l->cores * CORE_GHZ * core_flops(dtype);
}

/* The types whose rate counts: those of both operands. */
static double find_rate(const struct tk_limits *l, const struct tk_problem_spec *p, uint32_t *dtype)
{
	uint32_t other;

	tk_dtype_parse(tk_problem_dtype_name(p), dtype);
	other = p->abi.op == TK_OP_GEMM ? p->gemm.b : *dtype;
	double first = find_type_rate(l, *dtype), second = find_type_rate(l, other);
	return first > 0 && second > 0 ? fmax(first, second) : 0;
}

bool tk_limits_is_launch(const struct tk_problem_spec *p)
{
	return p->abi.op == TK_OP_COPY && p->ceiling.bytes == 1;
}

/* Whatever a launch computes, the device has to start it. The measured launch is no bound of its
 * own next measurement: a device that became faster would keep the old one. */
static bool allows_launch(const struct tk_limits *l, const struct tk_problem_spec *p, double ns,
        char *reason, size_t size)
{
	double limit =
	        tk_limits_is_launch(p) ? l->launch_ns : fmax(l->launch_ns, l->measured_launch_ns);
	char a[TK_FORMAT_SIZE], b[TK_FORMAT_SIZE];

	if (ns > 0 && ns >= limit)
		return true;
	if (limit > 0)
		snprintf(reason, size, "%s for a launch; this device needs at least %s",
		        tk_format_value(ns, "ns", a), tk_format_value(limit, "ns", b));
	else
		snprintf(reason, size, "%g ns is not the time of a launch", ns);
	return false;
}

bool tk_limits_allow(const struct tk_limits *l, const struct tk_problem_spec *p,
        const struct tk_limits_timing *t, char *reason, size_t size)
{
	uint32_t dtype = 0;
	double ns = t->median_ns, rate_limit = find_rate(l, p, &dtype),
	       bytes = tk_problem_min_bytes(p);
	/* Of the bytes of one rotation over all sets, the caches may still hold as many as they
	 * have room for; all others come from memory again, or go there. */
	double from_memory = bytes - CACHES_PER_LAST_LEVEL * l->cache_bytes / fmax(t->sets, 1);
	const struct {
		double value, limit; /* limit 0: unknown */
		const char *unit, *what, *type;
	} rates[] = {
	        {tk_problem_min_flops(p) / ns, rate_limit, "gflop_per_s", "in ",
	                tk_dtype_name(dtype)},
	        {from_memory / ns, l->cache_bytes > 0 ? l->memory_gb_per_s : 0, "gb_per_s",
	                "from memory", ""},
	        {bytes / ns,
	                l->cache_gb_per_s > 0 ? l->cache_gb_per_s
	                                      : l->cores * CORE_GHZ * CORE_BYTES,
	                "gb_per_s", "from caches", ""},
	};
	char a[TK_FORMAT_SIZE], b[TK_FORMAT_SIZE];

	if (!allows_launch(l, p, ns, reason, size))
		return false;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		if (!(rates[i].limit > 0) || rates[i].value <= rates[i].limit)
			continue;
		snprintf(reason, size, "%s %s%s; this device can do at most %s",
		        tk_format_value(rates[i].value, rates[i].unit, a), rates[i].what,
		        rates[i].type, tk_format_value(rates[i].limit, rates[i].unit, b));
		return false;
	}
	return true;
}
