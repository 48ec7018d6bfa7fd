/* What the backend needs of AOCL-BLAS, which the package brings without its headers: declared as in
 * the interface of the BLAS for C, and in BLIS from whose code it comes. */
#ifndef TK_AOCL_BLIS_H
#define TK_AOCL_BLIS_H
#include <stdint.h>

typedef int64_t dim_t;
typedef int32_t f77_int; /* the build checks it: bli_info_get_blas_int_type_size() */
typedef int arch_t;

enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 };

const char *bli_info_get_version_str(void);
arch_t bli_arch_query_id(void);
const char *bli_arch_string(arch_t id);
void bli_thread_set_num_threads(dim_t n);

void cblas_sgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta, enum CBLAS_TRANSPOSE tb,
        f77_int m, f77_int n, f77_int k, float alpha, const float *a, f77_int lda, const float *b,
        f77_int ldb, float beta, float *c, f77_int ldc);
void cblas_dgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta, enum CBLAS_TRANSPOSE tb,
        f77_int m, f77_int n, f77_int k, double alpha, const double *a, f77_int lda,
        const double *b, f77_int ldb, double beta, double *c, f77_int ldc);

#endif
