/* Values of JSON that may be missing. */
#ifndef TK_BASE_JSON_H
#define TK_BASE_JSON_H
#include <jansson.h>

/* null: not finite. */
json_t *tk_json_number(double x);
/* null: "". A text that is not UTF-8 becomes "?". */
json_t *tk_json_text(const char *s);
/* What of it is not UTF-8 is replaced. */
json_t *tk_json_valid_text(const char *s);

#endif
