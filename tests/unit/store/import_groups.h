/* The groups of tests of test_import_formats.c, one for each kind of format. */
#ifndef TK_TEST_IMPORT_GROUPS_H
#define TK_TEST_IMPORT_GROUPS_H

/* Each returns how many of its tests failed. */
int import_benchmark_tests(void); /* Google Benchmark, hyperfine, pytest-benchmark */
int import_commit_tests(void);    /* asv, github-action-benchmark */
int import_gpu_tests(void);       /* NVBench, lists of kernels, CSV of GEMM suites */
int import_csv_tests(void);
int import_record_tests(void); /* of `tracker export` */
int import_file_tests(void);   /* requests */
int import_member_tests(void); /* what they have in common */

#endif
