/* What backend.c says of ThunderKittens. */
#ifndef GEMM_LIBRARY_H
#define GEMM_LIBRARY_H

#define BACKEND_NAME "thunderkittens"
#define BACKEND_DESCRIPTION "GEMM by ThunderKittens for Hopper"
#define LIBRARY_NAME "ThunderKittens"
#define TARGETS "sm_90a"
#define NOT_COMPILED "not compiled for these types and transposes"

#endif
