/* Groups of tests of site_gen/render that are linked into one program, test_render.c. */
#ifndef TK_TEST_RENDER_GROUPS_H
#define TK_TEST_RENDER_GROUPS_H

int render_chart_tests(void);
int render_text_tests(void);

#endif
