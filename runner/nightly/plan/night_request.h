/* The options that decide which jobs a night has. They are stored with the night, so that --resume
 * continues with the options that it was started with. */
#ifndef TK_NIGHT_REQUEST_H
#define TK_NIGHT_REQUEST_H
#include "nightly/nightly.h"
#include <jansson.h>

/* {"devices":[...],"import":"/path","part":"2/4","split":true,"upstream":"NAME"}, with only the
 * options that are set. The seed is a column of the night. TK_EUSAGE: an option is not UTF-8; *out
 * is NULL then. */
int tk_night_request_encode(const struct tk_night_options *o, json_t **out, struct tk_error *err);

/* Sets the options of *o from the stored request. Its strings belong to `request`; the caller frees
 * *devices. TK_EUSAGE: *o has another value for one of them. */
int tk_night_request_restore(
        const json_t *request, struct tk_night_options *o, char ***devices, struct tk_error *err);

#endif
