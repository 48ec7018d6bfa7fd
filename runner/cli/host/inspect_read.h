/* What the readers of the machine share: small files and texts. */
#ifndef TK_CLI_INSPECT_READ_H
#define TK_CLI_INSPECT_READ_H
#include <jansson.h>

#include "base/buf.h"

/* The content of a small file without trailing white space; "" if it cannot be read. */
const char *tk_inspect_read_file(struct tk_buf *b, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
json_t *tk_inspect_text(const char *s); /* null for NULL and ""; invalid UTF-8 is replaced */

#endif
