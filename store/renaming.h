/* Series of other tools under another name. */
#ifndef TK_STORE_RENAMING_H
#define TK_STORE_RENAMING_H
#include "store/store.h"

struct tk_renaming_row { /* "*" in a name is any text */
	int64_t id;
	const char *uid, *old_name, *new_name;
	int64_t at_s;
};

/* Gives imported series other names, which stay: `added` are struct tk_renaming_row without id and
 * time. Verdicts and alerts of the *count series go. TK_EUSAGE: one night has values of both. */
int tk_store_rename_series(
        struct tk_store *s, const struct tk_rows *added, int64_t *count, struct tk_error *err);
int tk_store_apply_renamings(struct tk_store *s, struct tk_error *err); /* after an import */
/* The name that a series has now, by rows in the order of time. Free it. */
char *tk_renamings_apply(const struct tk_rows *renamings, const char *name);

#endif
