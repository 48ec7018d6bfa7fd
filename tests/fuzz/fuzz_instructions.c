/* Any text as what nvdisasm prints of the code of three kernels, two of them for one processor. The
 * counter is private to its file. */
#include "build/instructions.c"

#include "fuzz.h"

#define KERNEL_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned archs[] = {90, 90, 100};
	enum { PARTS = sizeof(archs) / sizeof(*archs) };
	struct tk_kernel_symbol symbols[PARTS] = {0};
	struct part parts[PARTS] = {0};
	struct counter c = {.parts = parts, .part_count = PARTS};
	unsigned lines = 1, total = 0;
	char *text = strndup((const char *)data, size);

	if (!text)
		abort();
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	for (size_t i = 0; i < PARTS; i++)
		parts[i] = (struct part){.symbol = &symbols[i],
		        .arch = archs[i],
		        .size = KERNEL_BYTES,
		        .start = i % 2 * KERNEL_BYTES};
	count_text(&c, 90, text);
	for (size_t i = 0; i < PARTS; i++) {
		write_counts(&parts[i]);
		total += parts[i].total;
		if (!memchr(symbols[i].instructions, '\0', sizeof(symbols[i].instructions)))
			abort();
		for (size_t k = 0; k < COUNTED; k++)
			if (parts[i].count[k] > parts[i].total)
				abort();
	}
	if (total > lines || parts[2].total)
		abort();
	free(text);
	return 0;
}
