/* What backend.c says of CUTLASS. The build defines TARGETS. */
#ifndef GEMM_LIBRARY_H
#define GEMM_LIBRARY_H

#define BACKEND_NAME "cutlass"
#define BACKEND_DESCRIPTION "GEMM by CUTLASS, compiled for " TARGETS
#define LIBRARY_NAME "CUTLASS"
#define NOT_COMPILED "not compiled for these types and transposes"

#endif
