/* acks.yml: accepted changes, in a file that is reviewed and committed like code; its format is in
 * docs/how-to/triage-alerts.md. */
#ifndef TK_CONFIG_ACKS_H
#define TK_CONFIG_ACKS_H
#include "core/triage.h"
#include <stddef.h>
#include <stdint.h>

struct tk_error;

/* Every entry selects series by at least one filter. */
struct tk_ack {
	char **filters;               /* "key:glob", NULL-terminated */
	char *rev;                    /* first digits of the first bad revision; NULL: any */
	enum tk_triage_action action; /* ACK, EXPECT or IGNORE */
	char *by, *note;
	int64_t until_s; /* 0: for ever */
};

struct tk_acks {
	struct tk_ack *at;
	size_t count;
};

/* keys: what series can be selected by, NULL-terminated. */
int tk_acks_load(
        const char *path, const char *const *keys, struct tk_acks **out, struct tk_error *err);
int tk_acks_load_text(const char *name, const char *text, size_t len, const char *const *keys,
        struct tk_acks **out, struct tk_error *err);
void tk_acks_free(struct tk_acks *a);

#endif
