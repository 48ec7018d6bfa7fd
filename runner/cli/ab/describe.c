/* Phrases that several formats of `tracker ab` share. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "cli/ab/format.h"

const struct tk_ab_format tk_ab_formats[] = {
        {"text", tk_ab_write_text},
        {"json", tk_ab_write_json},
        {"csv", tk_ab_write_csv},
        {"md", tk_ab_write_markdown},
        {"github", tk_ab_write_github},
};

const char *tk_ab_format_change(const struct tk_ab_row *row, char out[TK_AB_TEXT_SIZE])
{
	const struct tk_ab_result *r = &row->result;
	char change[TK_FORMAT_SIZE], range[TK_FORMAT_SIZE];

	*out = '\0';
	if (isnan(r->change))
		return out;
	tk_format_change(r->change, change);
	tk_format_change_range(r->change, r->lo, r->hi, range);
	snprintf(out, TK_AB_TEXT_SIZE, "%s (%s)", change, range);
	return out;
}

const char *tk_ab_format_side(const struct tk_ab_side_report *s, char out[TK_AB_SIDE_TEXT_SIZE])
{
	const struct tk_revision *r = &s->revision;

	if (!*r->id)
		snprintf(out, TK_AB_SIDE_TEXT_SIZE, "%s", s->spec);
	else
		snprintf(out, TK_AB_SIDE_TEXT_SIZE, "%s (%.12s%s%s)", s->spec,
		        r->dirty ? r->parent : r->id, r->dirty ? " with " : " ", r->subject);
	return out;
}

const char *tk_ab_summarize(const struct tk_ab_report *r, char out[TK_AB_SUMMARY_SIZE])
{
	char took[32];
	size_t len = 0;

	for (int v = 0; v < TK_AB_VERDICT_COUNT; v++)
		if (r->by_verdict[v] || v == TK_AB_VERDICT_SLOWER)
			len += (size_t)snprintf(out + len, TK_AB_SUMMARY_SIZE - len, "%s%zu %s",
			        len ? ", " : "", r->by_verdict[v],
			        tk_ab_verdict_name((enum tk_ab_verdict)v));
	len += (size_t)snprintf(out + len, TK_AB_SUMMARY_SIZE - len, "; %zu A/B pair%s", r->pairs,
	        r->pairs == 1 ? "" : "s");
	if (r->pairs)
		len += (size_t)snprintf(out + len, TK_AB_SUMMARY_SIZE - len, " in %s",
		        tk_duration_format(r->wall_s, took, sizeof took));
	if (r->budget_spent)
		snprintf(out + len, TK_AB_SUMMARY_SIZE - len, "; the budget was spent");
	return out;
}

bool tk_ab_has_several_backends(const struct tk_ab_report *r)
{
	for (size_t i = 1; i < r->count; i++)
		if (strcmp(r->rows[i].backend, r->rows[0].backend) != 0)
			return true;
	return false;
}

bool tk_ab_has_several_devices(const struct tk_ab_report *r)
{
	for (size_t i = 1; i < r->count; i++)
		if (strcmp(r->rows[i].device, r->rows[0].device) != 0)
			return true;
	return false;
}
