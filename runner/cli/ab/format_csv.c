/* `tracker ab --format=csv`: RFC 4180, one line per problem, raw numbers. */
#include "base/error.h"
#include "cli/ab/format.h"
#include "cli/markup.h"

static void put_row(const struct tk_ab_row *r, FILE *out)
{
	const char *const texts[] = {r->problem, r->backend, r->device, r->mode};
	const double numbers[] = {r->level_ns[TK_AB_BASE], r->level_ns[TK_AB_HEAD],
	        r->result.change, r->result.lo, r->result.hi};

	fputs(tk_ab_verdict_name(r->verdict), out);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		fputc(',', out);
		tk_csv_put_text(out, texts[i]);
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		tk_csv_put_number(out, numbers[i]);
	fprintf(out, ",%u,%s,%s,", r->result.count, tk_outcome_name(r->outcome[TK_AB_BASE]),
	        tk_outcome_name(r->outcome[TK_AB_HEAD]));
	tk_csv_put_text(out, r->message);
	fputs("\r\n", out);
}

int tk_ab_write_csv(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	(void)g;
	fputs("verdict,problem,backend,device,mode,base_ns,head_ns,change,change_lo,change_hi,"
	      "pairs,base_outcome,head_outcome,message\r\n",
	        out);
	for (size_t i = 0; i < r->count; i++)
		put_row(&r->rows[i], out);
	return ferror(out) ? tk_fail_errno(err, "cannot write") : TK_OK;
}
