/* `tracker ab --format=github`: workflow commands on stdout, ten of each level, because GitHub
 * shows no more; the Markdown form goes to $GITHUB_STEP_SUMMARY and the counts to $GITHUB_OUTPUT if
 * the job has them. */
#include <string.h>

#include "base/error.h"
#include "cli/ab/format.h"
#include "cli/markup.h"

#define COMMANDS_MAX 10

/* NULL: no news. */
static const char *choose_level(enum tk_ab_verdict v)
{
	switch (v) {
	case TK_AB_VERDICT_SLOWER:
	case TK_AB_VERDICT_NEWLY_FAILED:
		return "error";
	case TK_AB_VERDICT_INCONCLUSIVE:
	case TK_AB_VERDICT_FAILING:
		return "warning";
	case TK_AB_VERDICT_FASTER:
	case TK_AB_VERDICT_FIXED:
		return "notice";
	default:
		return NULL;
	}
}

static void put_command(const struct tk_ab_row *row, const char *level, FILE *out)
{
	char title[256], text[TK_AB_TEXT_SIZE];

	snprintf(title, sizeof title, "%s: %s on %s", tk_ab_verdict_name(row->verdict),
	        row->backend, row->device);
	fprintf(out, "::%s title=", level);
	tk_github_put_escaped(out, title, true);
	fputs("::", out);
	tk_github_put_escaped(out, row->title, false);
	if (*tk_ab_format_change(row, text)) {
		fputc(' ', out);
		tk_github_put_escaped(out, text, false);
	}
	if (*row->message) {
		fputs("; ", out);
		tk_github_put_escaped(out, row->message, false);
	}
	fputc('\n', out);
}

static void put_commands(const struct tk_ab_report *r, FILE *out)
{
	size_t shown[TK_AB_VERDICT_COUNT] = {0}, more = 0;

	for (size_t i = 0; i < r->count; i++) {
		const char *level = choose_level(r->rows[i].verdict);

		if (!level)
			continue;
		if (shown[r->rows[i].verdict]++ < COMMANDS_MAX)
			put_command(&r->rows[i], level, out);
		else
			more++;
	}
	if (more)
		fprintf(out, "... and %zu more: see the summary\n", more);
}

static int put_outputs(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	(void)g;
	(void)err;
	for (int v = 0; v < TK_AB_VERDICT_COUNT; v++)
		fprintf(out, "%s=%zu\n", tk_ab_verdict_name((enum tk_ab_verdict)v),
		        r->by_verdict[v]);
	return TK_OK;
}

static int append(const char *variable, const struct tk_ab_format *format,
        const struct tk_globals *g, const struct tk_ab_report *r, struct tk_error *err)
{
	FILE *f;
	int status = tk_github_open(variable, &f, err);

	if (status || !f)
		return status;
	return tk_github_close(variable, f, format->write(g, r, f, err), err);
}

int tk_ab_write_github(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	static const struct tk_ab_format summary = {"md", tk_ab_write_markdown},
	                                 outputs = {"outputs", put_outputs};
	char line[TK_AB_SUMMARY_SIZE];
	int status;

	put_commands(r, out);
	fprintf(out, "%s\n", tk_ab_summarize(r, line));
	status = append("GITHUB_STEP_SUMMARY", &summary, g, r, err);
	return status ? status : append("GITHUB_OUTPUT", &outputs, g, r, err);
}
