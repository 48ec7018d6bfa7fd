/* Alerts as people work on them: grouped, with their triage. Read by `tracker alert`. */
#ifndef TK_ALERT_GROUPS_H
#define TK_ALERT_GROUPS_H
#include "cli/lookup.h"
#include "core/kernel_report.h"
#include "detect/detect.h"
#include "store/query/code_facts.h"
#include "store/store.h"

struct tk_alert_group {
	const char *uid;
	const struct tk_alert_row **alerts; /* largest change first */
	size_t count;
	enum tk_triage_state state;                  /* of its most urgent alert */
	bool open;                                   /* at least one of its alerts is */
	const struct tk_triage_row *decision, *link; /* the newest; NULL: none */
	int64_t opened_s, closed_s;                  /* first, last */
};

struct tk_alerts {
	struct tk_alert_group *groups; /* newest first */
	size_t count;
	struct tk_rows rows, triage;
	struct tk_missing_data_list
	        missing_data; /* that are seen now, and may not have been written down yet */
	struct tk_alert_row *unsaved_alerts; /* alerts of those */
	struct tk_lookup names;
	const struct tk_alert_row **memory;
	struct tk_store *store; /* tk_alerts_load_evidence: for pairs */
	struct tk_rows bisections;
	struct tk_detect_options options;
};

int tk_alerts_load(struct tk_store *s, const struct tk_detect_options *options,
        struct tk_alerts *out, struct tk_error *err);
/* What bisections and pairs say of them. */
int tk_alerts_load_evidence(struct tk_store *s, struct tk_alerts *a, struct tk_error *err);
void tk_alerts_free(struct tk_alerts *a);

const struct tk_bisection_row *tk_alert_find_first_bad(
        const struct tk_alerts *a, const struct tk_alert_row *alert); /* NULL: none was found */
/* The pairs of its last good and first bad revision; TK_AB_NONE: none. */
int tk_alert_load_ab_result(const struct tk_alerts *a, const struct tk_alert_row *alert,
        struct tk_ab_result *out, struct tk_error *err);

/* What a trace of its last good and first bad revision found inside the kernel, in one sentence;
 * "": there is none. */
int tk_alert_summarize_regions(const struct tk_alerts *a, const struct tk_alert_row *alert,
        char out[TK_KERNEL_CHANGE_SIZE], struct tk_error *err);

/* How the machine code of its kernel changed: "spills 0 -> 48 bytes"; "": not known. */
int tk_alert_describe_code(const struct tk_alerts *a, const struct tk_alert_row *alert,
        char out[TK_CODE_CHANGE_SIZE], struct tk_error *err);

/* By the first digits of a group's id or of one alert's; *one: that alert, NULL where the whole
 * group is meant. TK_ENOTFOUND: none; TK_EUSAGE: several. */
int tk_alerts_find(const struct tk_alerts *a, const char *id, const struct tk_alert_group **group,
        const struct tk_alert_row **one, struct tk_error *err);
/* One alert of a group, as if it were alone in it; `one` is borrowed. Triage of the group applies
 * to it too. */
struct tk_alert_group tk_alert_group_from_one(
        const struct tk_alerts *a, const struct tk_alert_row **one);
/* "openblas gemm 512 on box: +12.0 %", or of several: how many series, and the worst. */
const char *tk_alert_group_title(const struct tk_alert_group *g, char *out, size_t size);
/* "box, node-2" */
const char *tk_alert_group_machines(
        const struct tk_alerts *a, const struct tk_alert_group *g, char *out, size_t size);

#endif
