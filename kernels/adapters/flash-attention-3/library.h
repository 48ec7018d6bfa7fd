/* What backend.c asks of FlashAttention-3. */
#ifndef FLASH_LIBRARY_H
#define FLASH_LIBRARY_H
#include "tracker_abi.h"
#include <stddef.h>

#define BACKEND_NAME "fa3"
#define LIBRARY_NAME "FlashAttention-3"
#define HAS_BACKWARD 1

/* Where the last block of a head's rows is much emptier than that of its group, the library packs
 * the heads of a group into common blocks (should_pack_gqa, tile_size_fwd_sm90). Returns the reason
 * for not doing the problem, or NULL. */
static inline const char *find_refusal(const struct tk_attention *a, int64_t compute_units)
{
	const int64_t block = a->d <= 96 ? 192 : 128, packed = a->sq * (a->h / a->hkv);
	const double rows = (double)a->sq / (double)((a->sq + block - 1) / block * block);
	const double packed_rows = (double)packed / (double)((packed + block - 1) / block * block);
	(void)compute_units;
	return a->dir == TK_FWD && a->h != a->hkv && rows < 0.9 * packed_rows
	               ? "the library packs heads that share keys, such kernels are not compiled"
	               : NULL;
}

#endif
