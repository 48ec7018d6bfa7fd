/* `tracker diff`: a range of nights against its baseline. */
#include "base/error.h"
#include "decide/monitor/monitor_session.h"
#include "decide/report/diff_row.h"

int tk_detect_diff(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_diff_range *range, struct tk_diff_report *out, struct tk_error *err)
{
	struct tk_diff_report report = {0};
	struct tk_case_set c;
	int status = tk_case_set_load(s, options, range, NULL, &c, err);

	if (!status)
		status = tk_case_set_load_monitor_events(&c, err);
	if (!status)
		status = tk_case_set_evaluate(&c, err);
	if (!status)
		tk_case_set_filter(&c, range);
	if (!status)
		status = tk_case_set_decide(&c, &report, err);
	tk_case_set_free(&c);
	if (status) {
		tk_diff_report_free(&report);
		return status;
	}
	tk_diff_report_finish(&report);
	*out = report;
	return TK_OK;
}
