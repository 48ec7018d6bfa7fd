/* mallopt() is an extension of glibc. */
#include "cli/allocator.h"

#include <malloc.h>

#define KEPT_BYTES (1 << 28)

void tk_cli_keep_freed_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}
