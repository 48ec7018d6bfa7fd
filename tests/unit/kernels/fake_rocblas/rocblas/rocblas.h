/* What kernels/hip/rocblas_backend.c uses of rocBLAS 6.4, for test_rocblas.c, which defines the
 * functions. Names, values and arguments are the library's. */
#ifndef FAKE_ROCBLAS_H
#define FAKE_ROCBLAS_H
#include <stddef.h>
#include <stdint.h>

typedef void *hipStream_t;
typedef struct fake_rocblas *rocblas_handle;
typedef int32_t rocblas_int;
typedef int64_t rocblas_stride;
typedef enum {
	rocblas_status_success = 0,
	rocblas_status_not_implemented = 2,
	rocblas_status_memory_error = 5,
	rocblas_status_invalid_value = 11,
	rocblas_status_arch_mismatch = 15,
	rocblas_status_excluded_from_build = 16
} rocblas_status;
typedef enum { rocblas_operation_none = 111, rocblas_operation_transpose = 112 } rocblas_operation;
typedef enum {
	rocblas_datatype_f16_r = 150,
	rocblas_datatype_f32_r = 151,
	rocblas_datatype_f64_r = 152,
	rocblas_datatype_bf16_r = 168
} rocblas_datatype;
typedef enum {
	rocblas_gemm_algo_standard = 0,
	rocblas_gemm_algo_solution_index = 1
} rocblas_gemm_algo;
typedef enum { rocblas_gemm_flags_none = 0 } rocblas_gemm_flags;
typedef enum { rocblas_atomics_not_allowed = 0 } rocblas_atomics_mode;
typedef enum { rocblas_default_math = 0, rocblas_xf32_xdl_math_op = 1 } rocblas_math_mode;

rocblas_status rocblas_create_handle(rocblas_handle *out);
rocblas_status rocblas_destroy_handle(rocblas_handle handle);
rocblas_status rocblas_set_atomics_mode(rocblas_handle handle, rocblas_atomics_mode mode);
rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream);
rocblas_status rocblas_set_workspace(rocblas_handle handle, void *at, size_t bytes);
rocblas_status rocblas_set_math_mode(rocblas_handle handle, rocblas_math_mode mode);
rocblas_status rocblas_get_version_string(char *out, size_t size);
const char *rocblas_status_to_string(rocblas_status status);

#define FAKE_GEMM_OPERANDS \
	rocblas_handle handle, rocblas_operation ta, rocblas_operation tb, rocblas_int m, \
	        rocblas_int n, rocblas_int k, const void *alpha
#define FAKE_GEMM_REST rocblas_datatype compute, rocblas_gemm_algo algo

rocblas_status rocblas_gemm_ex(FAKE_GEMM_OPERANDS, const void *a, rocblas_datatype a_type,
        rocblas_int lda, const void *b, rocblas_datatype b_type, rocblas_int ldb, const void *beta,
        const void *c, rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type,
        rocblas_int ldd, FAKE_GEMM_REST, int32_t solution, uint32_t flags);
rocblas_status rocblas_gemm_ex_get_solutions(FAKE_GEMM_OPERANDS, const void *a,
        rocblas_datatype a_type, rocblas_int lda, const void *b, rocblas_datatype b_type,
        rocblas_int ldb, const void *beta, const void *c, rocblas_datatype c_type, rocblas_int ldc,
        void *d, rocblas_datatype d_type, rocblas_int ldd, FAKE_GEMM_REST, uint32_t flags,
        rocblas_int *list, rocblas_int *count);
rocblas_status rocblas_gemm_strided_batched_ex(FAKE_GEMM_OPERANDS, const void *a,
        rocblas_datatype a_type, rocblas_int lda, rocblas_stride stride_a, const void *b,
        rocblas_datatype b_type, rocblas_int ldb, rocblas_stride stride_b, const void *beta,
        const void *c, rocblas_datatype c_type, rocblas_int ldc, rocblas_stride stride_c, void *d,
        rocblas_datatype d_type, rocblas_int ldd, rocblas_stride stride_d, rocblas_int batch,
        FAKE_GEMM_REST, int32_t solution, uint32_t flags);
rocblas_status rocblas_gemm_strided_batched_ex_get_solutions(FAKE_GEMM_OPERANDS, const void *a,
        rocblas_datatype a_type, rocblas_int lda, rocblas_stride stride_a, const void *b,
        rocblas_datatype b_type, rocblas_int ldb, rocblas_stride stride_b, const void *beta,
        const void *c, rocblas_datatype c_type, rocblas_int ldc, rocblas_stride stride_c, void *d,
        rocblas_datatype d_type, rocblas_int ldd, rocblas_stride stride_d, rocblas_int batch,
        FAKE_GEMM_REST, uint32_t flags, rocblas_int *list, rocblas_int *count);

#endif
