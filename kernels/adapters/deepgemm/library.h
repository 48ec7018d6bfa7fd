/* What backend.c says of DeepGEMM. */
#ifndef GEMM_LIBRARY_H
#define GEMM_LIBRARY_H

#define BACKEND_NAME "deepgemm"
#define BACKEND_DESCRIPTION "GEMM by DeepGEMM for Hopper"
#define LIBRARY_NAME "DeepGEMM"
#define TARGETS "sm_90a"
#define NOT_COMPILED "not compiled for this shape, these types and transposes"

#endif
