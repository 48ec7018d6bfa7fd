/* Shared by the backends of this folder beyond gpu_backend.h: the architecture. All modules use the
 * HIP runtime of the process and the device that the device layer made current, so they share
 * streams and pointers. */
#ifndef TK_HIP_BACKEND_H
#define TK_HIP_BACKEND_H
#include "gpu_backend.h"

/* 0x942 for gfx942, 0x90a for gfx90a; 0: unknown. */
static inline unsigned gfx_of(const struct tk_open_args *args)
{
	unsigned gfx = 0;
	return sscanf(args->device_info.arch, "gfx%x", &gfx) == 1 ? gfx : 0;
}

/* CDNA3: MI300A, MI300X, MI325X. The only one with xf32 (what NVIDIA calls tf32) and with 8-bit
 * floats of the FNUZ kind. */
static inline int is_cdna3(unsigned gfx)
{
	return gfx >= 0x940 && gfx <= 0x942;
}

#endif
