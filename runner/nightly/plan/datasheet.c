/* See datasheet.h. Figures are dense (data sheets like to print twice as much, with 2:4
 * sparsity), at boost clock and full power, which no kernel holds for long. A pattern must match
 * the whole name: an H200 NVL is not an H200. */
#include "nightly/plan/datasheet.h"
#include "base/error.h"
#include "nightly/night.h"
#include <fnmatch.h>

static const struct tk_datasheet datasheets[] = {
        /*                           bf16  fp8   tf32  f32   memory */
        {"NVIDIA A100-SXM4-80GB", 312, 0, 156, 19.5, 2.04, "NVIDIA A100 datasheet, A100 80GB SXM"},
        {"NVIDIA H100 80GB HBM3", 989, 1979, 495, 67, 3.35, "NVIDIA H100 datasheet, H100 SXM"},
        {"NVIDIA H100 PCIe", 756, 1513, 378, 51, 2.0, "NVIDIA H100 datasheet, H100 PCIe"},
        {"NVIDIA H200", 989, 1979, 495, 67, 4.8, "NVIDIA H200 datasheet, H200 SXM"},
        {"NVIDIA B200", 2250, 4500, 1130, 75, 8.0, "NVIDIA DGX B200 datasheet, an eighth"},
        {"NVIDIA L40S", 362, 733, 183, 91.6, 0.864, "NVIDIA L40S datasheet"},
        {"NVIDIA GeForce RTX 4090", 165, 330, 83, 83, 1.01,
                "NVIDIA Ada GPU architecture whitepaper, accumulation in f32"},
        {"*Instinct MI210*", 181, 0, 0, 22.6, 1.6, "AMD Instinct MI210 datasheet"},
        {"*Instinct MI250X*", 383, 0, 0, 47.9, 3.28, "AMD Instinct MI250X datasheet, both dies"},
        {"*Instinct MI300X*", 1307, 2615, 654, 163, 5.3, "AMD Instinct MI300X datasheet"},
        {"*Instinct MI325X*", 1307, 2615, 654, 163, 6.0, "AMD Instinct MI325X datasheet"},
        {"*Instinct MI355X*", 2500, 5000, 0, 157, 8.0, "AMD Instinct MI355X datasheet"},
};

const struct tk_datasheet *tk_datasheet_find(const char *device_name)
{
	for (size_t i = 0; device_name && i < sizeof datasheets / sizeof *datasheets; i++)
		if (fnmatch(datasheets[i].device, device_name, 0) == 0)
			return &datasheets[i];
	return NULL;
}

int tk_night_put_datasheet(
        struct tk_night *n, const struct tk_night_device *d, struct tk_error *err)
{
	const struct tk_datasheet *s =
	        tk_datasheet_find(json_string_value(json_object_get(d->info, "name")));
	if (!s)
		return TK_OK;
	const struct {
		const char *name, *unit;
		double value;
	} rows[] = {
	        {"memory", "gb_per_s", s->memory},
	        {"bf16", "gflop_per_s", s->bf16},
	        {"f16", "gflop_per_s", s->bf16},
	        {"e4m3", "gflop_per_s", s->fp8},
	        {"e5m2", "gflop_per_s", s->fp8},
	        {"tf32", "gflop_per_s", s->tf32},
	        {"f32", "gflop_per_s", s->f32},
	};
	int status = TK_OK;
	for (size_t i = 0; !status && i < sizeof rows / sizeof *rows; i++) {
		struct tk_ceiling_row row = {.night_id = n->night_id,
		        .device_id = d->device_id,
		        .name = rows[i].name,
		        .source = TK_CEILING_DATASHEET,
		        .unit = rows[i].unit,
		        .value = rows[i].value * 1e3};
		if (row.value > 0)
			status = tk_store_put_ceiling(n->store, &row, err);
	}
	return status;
}
