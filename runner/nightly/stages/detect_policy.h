/* What detection needs from the configuration: the thresholds and the acknowledgements
 * (acks.yml). */
#ifndef TK_DECIDE_POLICY_H
#define TK_DECIDE_POLICY_H
#include "decide/decide.h"

struct tk_acks;
struct tk_config;
struct tk_error;

struct tk_detect_policy {
	struct tk_detect_options options; /* now_s is the current time */
	struct tk_acks *acks;             /* that `rules` refer to */
	struct tk_ack_rule *rules;
};

/* Without acknowledgements. */
struct tk_detect_options tk_detect_policy_thresholds(const struct tk_config *config);
/* acks_path NULL: the configured file, else acks.yml beside tracker.yml, which may be absent.
 * After an error the options have no acknowledgements. Free in any case. */
int tk_detect_policy_load(const struct tk_config *c, const char *acks_path,
        struct tk_detect_policy *out, struct tk_error *err);
void tk_detect_policy_free(struct tk_detect_policy *policy);

#endif
