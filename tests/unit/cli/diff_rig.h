/* A report of `tracker diff` with a row of each kind that formats treat differently. */
#ifndef TK_TEST_DIFF_RIG_H
#define TK_TEST_DIFF_RIG_H
#include "capture.h"

#include <math.h>

#include "base/error.h"
#include "cli/diff/view.h"
#include "cli/globals.h"

enum { SLOWER, FAILED, FASTER, SAME, MACHINE, ROWS };

struct diff_rig {
	struct tk_globals globals;
	struct tk_diff_row rows[ROWS];
	struct tk_diff_report report;
	struct tk_diff_view view;
	struct capture capture;
};

static inline void set_row(struct tk_diff_row *r, const char *title, enum tk_verdict_status status,
        double before, double change)
{
	snprintf(r->title, sizeof r->title, "%s", title);
	snprintf(r->series, sizeof r->series, "rig/cpu/openblas/%s", title);
	strcpy(r->machine, "rig");
	strcpy(r->device, "cpu");
	strcpy(r->backend, "openblas");
	strcpy(r->upstream, "blas");
	strcpy(r->op, "gemm");
	strcpy(r->metric, "time");
	strcpy(r->unit, "ns");
	r->lower_is_better = true;
	r->commits_between = -1;
	tk_verdict_init(&r->verdict);
	r->verdict.status = status;
	r->verdict.before = (struct tk_estimate){before, before * 0.99, before * 1.01};
	const double after = before * (1 + change);
	r->verdict.after = (struct tk_estimate){after, after * 0.99, after * 1.01};
	r->verdict.change = (struct tk_estimate){change, change - 0.01, change + 0.01};
	r->verdict.threshold = 0.02;
	r->verdict.severity = fabs(change) / 0.02;
	r->samples_before = 7;
	r->samples_after = 3;
}

/* Counts again what the rows are. */
static inline void diff_count(struct diff_rig *f)
{
	struct tk_diff_report *r = &f->report;

	memset(r->by_status, 0, sizeof r->by_status);
	r->compared = 0;
	r->mean = (struct tk_diff_mean){.change = NAN};
	for (size_t i = 0; i < r->count; i++) {
		r->by_status[r->rows[i].verdict.status]++;
		r->compared += tk_diff_row_is_compared(&r->rows[i]);
		tk_diff_mean_add(&r->mean, &r->rows[i]);
	}
}

static inline void set_slower(struct tk_diff_row *r)
{
	set_row(r, "gemm", TK_VERDICT_REGRESSED, 1000, 0.1);
	strcpy(r->good_rev, "aaaaaaaaaaaaaaaa");
	strcpy(r->bad_rev, "bbbbbbbbbbbbbbbb");
	strcpy(r->bad_subject, "unroll");
	r->commits_between = 3;
	r->verdict.p = 0.001;
	r->verdict.q = 0.004;
}

static inline int diff_set_up(void **state)
{
	struct diff_rig *f = calloc(1, sizeof *f);

	assert_non_null(f);
	f->globals.no_color = true;
	set_slower(&f->rows[SLOWER]);
	set_row(&f->rows[FAILED], "conv", TK_VERDICT_NEWLY_FAILED, NAN, NAN);
	tk_verdict_add_fact(&f->rows[FAILED].verdict, (struct tk_fact){.kind = TK_FACT_OUTCOME},
	        "crashed: signal 11");
	set_row(&f->rows[FASTER], "axpy", TK_VERDICT_IMPROVED, 2000, -0.2);
	f->rows[FASTER].ab = (struct tk_ab_result){
	        .decision = TK_AB_LOWER, .count = 16, .change = -0.2, .lo = -0.21, .hi = -0.19};
	set_row(&f->rows[SAME], "fft", TK_VERDICT_SAME, 3000, 0.001);
	set_row(&f->rows[MACHINE], "sort", TK_VERDICT_ENVIRONMENT, 4000, 0.05);
	f->report = (struct tk_diff_report){.rows = f->rows,
	        .count = ROWS,
	        .machines = 1,
	        .since_s = 86400 * 10,
	        .until_s = 86400 * 17,
	        .window = 7,
	        .options = {.now_s = 86400 * 18, .fdr = 0.05, .min_effect = 0.02}};
	diff_count(f);
	f->view.globals = &f->globals;
	f->view.report = &f->report;
	f->view.fail_on[TK_VERDICT_REGRESSED] = true;
	capture_open(&f->capture);
	*state = f;
	return 0;
}

static inline int diff_tear_down(void **state)
{
	struct diff_rig *f = *state;

	tk_diff_view_free(&f->view);
	capture_free(&f->capture);
	free(f);
	return 0;
}

static inline void diff_choose(struct diff_rig *f, bool everything)
{
	struct tk_error err = {0};

	tk_diff_view_free(&f->view);
	assert_int_equal(tk_diff_view_init(&f->view, everything, &err), TK_OK);
}

/* What a format writes, with the rows that it chooses by itself. */
static inline const char *diff_written(struct diff_rig *f, const char *name)
{
	const struct tk_diff_format *format = tk_diff_format_find(name);
	struct tk_error err = {0};

	diff_choose(f, format->everything);
	capture_free(&f->capture);
	capture_open(&f->capture);
	if (format->write(&f->view, f->capture.out, &err))
		fail_msg("%s: %s", name, err.message);
	return capture_text(&f->capture);
}

#define DIFF_TEST(f) cmocka_unit_test_setup_teardown(f, diff_set_up, diff_tear_down)

#endif
