/* Addresses of commits, and differences between environments. */
#ifndef TK_SITE_LINKS_H
#define TK_SITE_LINKS_H
#include <stdbool.h>
#include <stddef.h>

struct tk_buf;
struct tk_environment_row;
struct tk_model;

#define TK_LINK_SIZE 512

/* The page of a commit on the forge that a git URL names; "" if the forge is unknown or the URL has
 * unusual characters. Never has a user or password, always begins with https:// or http://. Returns
 * out. */
const char *tk_link_commit(const char *url, const char *rev, char out[TK_LINK_SIZE]);
const char *tk_link_range(
        const char *url, const char *good, const char *bad, char out[TK_LINK_SIZE]);
/* The URL without user and password, for display. */
const char *tk_link_strip_user(const char *url, char out[TK_LINK_SIZE]);
/* 12 digits of a hash; other revisions up to 24 bytes. */
const char *tk_rev_abbreviate(const char *rev, char out[TK_LINK_SIZE]);

/* A JSON object with the members of inner objects as its own, so that "attributes":{"kernel":...}
 * reads as "kernel". A name that is already used gets its parent's name as a prefix. The caller
 * frees it; NULL: not an object. */
struct json_t *tk_attributes_flatten(const char *json);
/* "driver 550.54 → 560.28, governor powersave → performance"; at most six. */
void tk_environment_add_diff(struct tk_buf *out, const char *before, const char *after);

#endif
