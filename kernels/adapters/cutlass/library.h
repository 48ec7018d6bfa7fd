/* What backend.c says of CUTLASS. */
#ifndef GEMM_LIBRARY_H
#define GEMM_LIBRARY_H

#define BACKEND_NAME "cutlass"
#define BACKEND_DESCRIPTION "GEMM by CUTLASS's collective builder for Hopper"
#define LIBRARY_NAME "CUTLASS"
#define TARGETS "sm_90a"
#define NOT_COMPILED "not compiled for these types and transposes"

#endif
