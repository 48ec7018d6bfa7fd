/* Stage "detect": verdicts, change points and alerts of the night. */
#include "detect/detect.h"
#include "base/error.h"
#include "base/log.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include <string.h>

int tk_night_run_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err)
{
	struct tk_detect_policy policy;
	struct tk_error reason = {0};
	/* acks.yml was valid when the night began; an error since then must not lose the
	 * verdicts. */
	if (tk_detect_policy_load(n->config, NULL, &policy, &reason))
		tk_log(TK_LOG_WARN, "acks", NULL, "acknowledgements ignored: %s", reason.message);
	int status = tk_detect_night(n->store, night_id, &policy.options, report, err);
	tk_detect_policy_free(&policy);
	return status;
}

int tk_night_rerun_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err)
{
	int status = tk_night_run_detection(n, night_id, report, err);
	if (status)
		tk_error_add_context(err,
		        "the result and its A/B pairs are stored, but the verdicts of "
		        "the night were not updated; run the command again");
	return status;
}

int tk_night_detect(struct tk_night *n, struct tk_error *err)
{
	struct tk_diff_report report = {0};
	int status = tk_night_run_detection(n, n->night_id, &report, err);
	if (!status)
		memcpy(n->report->by_status, report.by_status, sizeof n->report->by_status);
	tk_diff_report_free(&report);
	return status;
}
