/* What cutlass/backend.c says of Composable Kernel. The build defines TARGETS and DEVICE_KIND. */
#ifndef GEMM_LIBRARY_H
#define GEMM_LIBRARY_H

#define BACKEND_NAME "ck_gemm"
#define BACKEND_DESCRIPTION "GEMM by ck_tile of Composable Kernel"
#define LIBRARY_NAME "Composable Kernel"
#define NOT_COMPILED "not compiled for these types and transposes"

#endif
