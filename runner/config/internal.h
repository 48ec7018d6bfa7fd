/* What the files of runner/config share. */
#ifndef TK_CONFIG_INTERNAL_H
#define TK_CONFIG_INTERNAL_H
#include "config/config.h"
#include <stdbool.h>

struct tk_config_key;
struct tk_config_section;
struct tk_error;
struct tk_yaml;

/* The section has to exist. */
const struct tk_config_section *tk_config_find_section(const char *name);
/* "upstreams": its keys are those of each item. */
bool tk_config_is_list_section(const struct tk_config_section *s);

int tk_config_set_defaults(
        const struct tk_config_key *keys, const char *root, void *base, struct tk_error *err);
void tk_config_free_upstreams(struct tk_upstream_config *u, size_t count);

/* Values of the document over the defaults that are in `c`. */
int tk_config_apply(const struct tk_yaml *y, struct tk_config *c, struct tk_error *err);
/* Checks that need the whole configuration. `y` gives the positions. */
int tk_config_check(const struct tk_config *c, const struct tk_yaml *y, struct tk_error *err);
/* Fills c->hash. */
int tk_config_hash(struct tk_config *c, struct tk_error *err);

#endif
