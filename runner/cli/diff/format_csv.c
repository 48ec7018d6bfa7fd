/* `tracker diff --format=csv`: RFC 4180, one line per series, raw numbers. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/diff/view.h"
#include "cli/markup.h"
#include "cli/rate.h"
#include "core/verdict_text.h"

static void put_row(const struct tk_diff_row *r, FILE *out)
{
	const char *const texts[] = {r->series, r->title, r->backend, r->upstream, r->machine,
	        r->device, r->metric, r->unit};
	const double numbers[] = {r->verdict.before.value, r->verdict.before.lo,
	        r->verdict.before.hi, r->verdict.after.value, r->verdict.after.lo,
	        r->verdict.after.hi, r->verdict.change.value, r->verdict.change.lo,
	        r->verdict.change.hi, r->verdict.threshold, r->verdict.severity, r->verdict.p,
	        r->verdict.q};
	char reason[TK_REASON_SIZE];
	const char *const more[] = {r->good_rev, r->bad_rev, r->bad_subject,
	        tk_verdict_format_reason(&r->verdict, reason)};

	fputs(tk_verdict_status_name(r->verdict.status), out);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		fputc(',', out);
		tk_csv_put_text(out, texts[i]);
	}
	fprintf(out, ",%s", r->lower_is_better ? "lower" : "higher");
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		tk_csv_put_number(out, numbers[i]);
	fprintf(out, ",%u,%u", r->samples_before, r->samples_after);
	if (r->commits_between >= 0)
		fprintf(out, ",%" PRId64, r->commits_between);
	else
		fputc(',', out);
	for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
		fputc(',', out);
		tk_csv_put_text(out, more[i]);
	}
	const struct tk_rate rate = tk_diff_row_rate(r);

	fprintf(out, ",%s", tk_diff_evidence_name(r));
	tk_csv_put_number(out, rate.gflop_per_s);
	tk_csv_put_number(out, rate.peak_share);
	fputs("\r\n", out);
}

int tk_diff_write_csv(const struct tk_diff_view *v, FILE *out, struct tk_error *err)
{
	size_t shown = tk_diff_shown_count(v);

	fputs("status,series,problem,backend,upstream,machine,device,metric,unit,better,before,"
	      "before_lo,before_hi,"
	      "after,after_lo,after_hi,"
	      "change,change_lo,change_hi,threshold,severity,p,q,samples_before,samples_after,"
	      "commits_between,good_rev,"
	      "bad_rev,bad_subject,"
	      "reason,change_by,gflop_per_s,peak_share\r\n",
	        out);
	for (size_t i = 0; i < shown; i++)
		put_row(v->rows[i], out);
	return ferror(out) ? tk_fail_errno(err, "cannot write") : TK_OK;
}
