/* The verdicts of a night as rows: see verdict_rows.h. */
#include "detect/verdict_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "detect/history/case_set.h"
#include "detect/report/reason.h"
#include "detect/report/verdict_detail.h"

static int out_of_memory(struct tk_error *err)
{
	return tk_fail(err, TK_ENOMEM, "out of memory while analysing a night");
}

/* What a stored verdict points at. */
struct verdict_texts {
	char *detail, *reason;
};

static struct tk_verdict_row verdict_row(
        int64_t night_id, const struct tk_diff_row *row, struct verdict_texts *texts)
{
	const struct tk_verdict *v = &row->verdict;
	char reason[TK_REASON_SIZE];

	texts->detail = tk_verdict_detail_write(row);
	texts->reason = tk_strdup(tk_verdict_format_reason(v, reason));
	return (struct tk_verdict_row){.night_id = night_id,
	        .series_id = row->series_id,
	        .status = v->status,
	        .before_value = v->before.value,
	        .after_value = v->after.value,
	        .change = v->change.value,
	        .change_lo = v->change.lo,
	        .change_hi = v->change.hi,
	        .threshold = v->threshold,
	        .p = v->p,
	        .q = v->q,
	        .reason = texts->reason,
	        .detail = texts->detail};
}

/* The rows, written by several threads. */
struct writing {
	const struct tk_diff_report *report;
	struct tk_verdict_rows *out;
	_Atomic bool no_memory;
};

static void write_part(void *arg, int64_t first, int64_t count)
{
	struct writing *w = arg;

	for (int64_t i = first; i < first + count; i++) {
		struct verdict_texts *texts = &w->out->texts[i];

		w->out->at[i] = verdict_row(w->out->night_id, &w->report->rows[i], texts);
		if (!texts->detail || !texts->reason)
			w->no_memory = true;
	}
}

int tk_verdict_rows_make(int64_t night_id, const struct tk_diff_report *report,
        struct tk_verdict_rows *out, struct tk_error *err)
{
	struct writing w = {.report = report, .out = out};

	*out = (struct tk_verdict_rows){.night_id = night_id,
	        .at = tk_calloc(report->count + 1, sizeof *out->at),
	        .texts = tk_calloc(report->count + 1, sizeof *out->texts)};
	if (!out->at || !out->texts)
		return out_of_memory(err);
	out->count = report->count;
	tk_parallel_for((int64_t)report->count, TK_CASES_PER_PART, write_part, &w);
	return w.no_memory ? out_of_memory(err) : TK_OK;
}

int tk_verdict_rows_store(
        const struct tk_verdict_rows *rows, struct tk_store *s, struct tk_error *err)
{
	return tk_store_replace_verdicts(s, rows->night_id, rows->at, rows->count, err);
}

void tk_verdict_rows_free(struct tk_verdict_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->texts[i].detail);
		free(rows->texts[i].reason);
	}
	free(rows->texts);
	free(rows->at);
	*rows = (struct tk_verdict_rows){0};
}
