/* What a night was asked for on the command line that decides which jobs it has: stored with it, so
 * that it is gone on with as it was begun. */
#ifndef TK_NIGHT_REQUEST_H
#define TK_NIGHT_REQUEST_H
#include "nightly/nightly.h"
#include <jansson.h>

/* {"devices":[...],"import":"/path","split":true,"upstream":"NAME"}: what was not given is not in
 * it. The seed has a column of its own. TK_EUSAGE: a text is no UTF-8. NULL then. */
int tk_night_request_encode(const struct tk_night_options *o, json_t **out, struct tk_error *err);

/* What is stored is taken into *o, whose words live in `asked`, but for *devices, which the caller
 * frees. TK_EUSAGE: o has something else. */
int tk_night_request_restore(
        const json_t *asked, struct tk_night_options *o, char ***devices, struct tk_error *err);

#endif
