/* Registers, spills and instructions of kernels, on the terminal and as JSON. */
#include "cli/history/show_kernels.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

#define KERNELS_PRINTED 12

static void print_kernel(const struct tk_kernel_row *k)
{
	tk_text_write_sanitized(stdout, k->name, "");
	putchar('\n');
	for (size_t f = 0; f < TK_CODE_FACT_COUNT; f++) {
		const int64_t value = tk_code_fact_value(&tk_code_facts[f], k);

		if (value >= 0)
			printf("    %-24s %" PRId64 "%s\n", tk_code_facts[f].name, value,
			        tk_code_facts[f].unit);
	}
	if (*k->instructions) {
		printf("    %-24s ", "instructions");
		tk_text_write_sanitized(stdout, k->instructions, "");
		putchar('\n');
	}
}

void tk_show_print_kernels(const struct tk_rows *kernels, const struct tk_kernel_use *use)
{
	const struct tk_kernel_row *k;
	size_t count = 0;

	for (size_t i = 0; (k = tk_kernel_rows_next(kernels, use, &i)); count++) {
		if (count >= KERNELS_PRINTED)
			continue;
		fputs(count ? "  " : "\nGPU kernels\n  ", stdout);
		print_kernel(k);
	}
	if (count > KERNELS_PRINTED)
		printf("  and %zu more; --format=json lists them\n", count - KERNELS_PRINTED);
}

json_t *tk_show_kernels_json(const struct tk_rows *kernels, const struct tk_kernel_use *use)
{
	json_t *list = json_array();
	const struct tk_kernel_row *k;

	for (size_t i = 0; (k = tk_kernel_rows_next(kernels, use, &i));) {
		json_t *o = json_pack("{s:s,s:s,s:I}", "name", k->name, "code_hash", k->code_hash,
		        "size_bytes", (json_int_t)k->size_bytes);

		for (size_t f = 0; f < TK_CODE_FACT_COUNT; f++) {
			const int64_t value = tk_code_fact_value(&tk_code_facts[f], k);

			json_object_set_new(o, tk_code_facts[f].key,
			        value < 0 ? json_null() : json_integer(value));
		}
		json_object_set_new(o, "instructions",
		        *k->instructions ? json_string(k->instructions) : json_null());
		json_array_append_new(list, o);
	}
	return list;
}
