/* Members of JSON objects, each with a comma in front. */
#ifndef TK_SITE_JSON_H
#define TK_SITE_JSON_H
#include <stdint.h>

struct tk_buf;

/* key: a literal. */
void tk_json_add_key(struct tk_buf *out, const char *key);
void tk_json_add_text(struct tk_buf *out, const char *key, const char *text); /* cut to 400 bytes */
void tk_json_add_number(struct tk_buf *out, const char *key, double v);  /* null where not finite */
void tk_json_add_time(struct tk_buf *out, const char *key, int64_t t_s); /* ISO 8601; 0: null */

#endif
