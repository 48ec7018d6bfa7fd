/* One value of tracker.yml into the field of its key. */
#ifndef TK_CONFIG_VALUE_H
#define TK_CONFIG_VALUE_H
#include "config/keys.h"
#include <stdbool.h>
#include <stddef.h>

struct tk_error;

/* "text", "duration, 1s to 7d": the type of the key for people. Returns out. */
#define TK_CONFIG_TYPE_SIZE 80
const char *tk_config_describe_type(const struct tk_config_key *key, char out[TK_CONFIG_TYPE_SIZE]);
bool tk_config_is_list(const struct tk_config_key *key);

/* Checks `text` and stores it in the field of `base`, the struct that key->offset counts from.
 * Relative paths start at `root`. The message quotes the text and says what was expected, without
 * naming the key. */
int tk_config_set(const struct tk_config_key *key, const char *text, const char *root, void *base,
        struct tk_error *err);

/* The same for a key that is a list. *bad: the index of the item that is wrong. */
int tk_config_set_list(const struct tk_config_key *key, const char *const *items, size_t count,
        void *base, size_t *bad, struct tk_error *err);

/* Stores key->fallback; where there is none the field stays as it is. */
int tk_config_set_default(
        const struct tk_config_key *key, const char *root, void *base, struct tk_error *err);

/* Frees the field's memory, if it has any. */
void tk_config_clear(const struct tk_config_key *key, void *base);

#endif
