/* Groups of tests of pages that are linked into one program, test_page_reports.c. */
#ifndef TK_TEST_PAGE_GROUPS_H
#define TK_TEST_PAGE_GROUPS_H

int page_map_tests(void);
int page_tuning_tests(void);
int page_trace_tests(void);
int page_compare_tests(void);
int page_version_tests(void);

#define LAB_TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

#endif
