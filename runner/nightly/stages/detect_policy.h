/* What the configuration says about judging, as detection takes it: thresholds, and what was
 * accepted (acks.yml). */
#ifndef TK_DETECT_POLICY_H
#define TK_DETECT_POLICY_H
#include "detect/detect.h"

struct tk_acks;
struct tk_config;
struct tk_error;

struct tk_detect_policy {
	struct tk_detect_options options; /* now_s: the clock's */
	struct tk_acks *acks;
	struct tk_ack_rule *rules;
};

struct tk_detect_options tk_detect_policy_thresholds(const struct tk_config *config);
/* acks_path NULL: as configured, and where that says nothing acks.yml beside tracker.yml, which
 * need not exist. Where it fails, the options are there without the acks. Free in any case. */
int tk_detect_policy_load(const struct tk_config *c, const char *acks_path,
        struct tk_detect_policy *out, struct tk_error *err);
void tk_detect_policy_free(struct tk_detect_policy *j);

#endif
