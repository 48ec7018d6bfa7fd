/* What the configuration says about judging, as detection takes it: thresholds, and what was accepted (acks.yml). */
#ifndef TK_NIGHTLY_JUDGING_H
#define TK_NIGHTLY_JUDGING_H
#include "detect/detect.h"

struct tk_acks;
struct tk_config;
struct tk_error;

struct tk_judging {
	struct tk_detect_options options; /* now_s: the clock's */
	struct tk_acks *acks;
	struct tk_ack_rule *rules;
};

struct tk_detect_options tk_night_thresholds(const struct tk_config *config);
/* acks_path NULL: as configured, and where that says nothing acks.yml beside tracker.yml, which need not exist. Where
 * it fails, the options are there without the acks. Free in any case. */
int tk_judging_of(const struct tk_config *c, const char *acks_path, struct tk_judging *out, struct tk_error *err);
void tk_judging_free(struct tk_judging *j);

#endif
