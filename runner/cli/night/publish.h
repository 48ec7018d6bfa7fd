/* The site as what a night publishes. */
#ifndef TK_CLI_PUBLISH_H
#define TK_CLI_PUBLISH_H
#include "nightly/nightly.h"

struct tk_config;

/* Writes the configured site; `config` must live as long as the publisher. */
struct tk_night_publisher tk_site_publisher(const struct tk_config *config);

#endif
