/* What is measured where nobody has written a tracker.yml: the parts of the default that depend on
 * the machine. Private to runner/config. */
#ifndef TK_CONFIG_DEFAULTS_H
#define TK_CONFIG_DEFAULTS_H
#include "config/reference.h"

struct tk_buf;

/* "[smoke]", "[cpu:smoke, cuda:first-gpu]" */
void tk_config_write_default_suites(struct tk_buf *out, const struct tk_config_host *host);
/* The items of `upstreams`, each with a comment why it is there. */
void tk_config_write_default_upstreams(struct tk_buf *out, const struct tk_config_host *host);

#endif
