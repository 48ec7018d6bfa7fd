/* Bytes as device code of a build that somebody else made. The first one says as what: a section of
 * NVIDIA's container or of AMD's as it is, an AMD bundle that is packed, or a code object. */
#include <stdlib.h>
#include <string.h>

#include "build/build_internal.h"
#include "fuzz.h"

/* Everything that was found is touched: it has to lie within what was read. section NULL: one code
 * object. */
static void look_at(const char *section, const unsigned char *bytes, size_t size)
{
	struct tk_device_code c;
	volatile unsigned sum = 0;

	tk_device_code_read(section ? section : "gfx942", bytes, size, &c);
	for (size_t i = 0; i < c.kernel_count; i++) {
		sum += (unsigned)strlen(c.kernels[i].processor);
		for (size_t b = 0; b < c.kernels[i].size; b++)
			sum += c.kernels[i].code[b];
	}
	for (size_t i = 0; i < c.data_count; i++)
		for (size_t b = 0; b < c.data[i].size; b++)
			sum += c.data[i].bytes[b];
	tk_device_code_free(&c);
}

static void look_at_packed(const unsigned char *bytes, size_t size)
{
	struct tk_buf b = TK_BUF_INIT;
	unsigned char head[32] = {'C', 'C', 'O', 'B', 3, 0, 1, 0};

	tk_buf_add(&b, head, sizeof(head));
	if (tk_zstd_compress(bytes, size, &b, NULL))
		abort();
	const uint64_t all = b.len;
	memcpy(b.data + 8, &all, sizeof(all));
	look_at(".hip_fatbin", (const unsigned char *)b.data, b.len);
	tk_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:
		look_at(".nv_fatbin", data + 1, size - 1);
		break;
	case 1:
		look_at(".hip_fatbin", data + 1, size - 1);
		break;
	case 2:
		look_at_packed(data + 1, size - 1);
		break;
	default:
		look_at(NULL, data + 1, size - 1);
	}
	return 0;
}
