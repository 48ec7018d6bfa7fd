/* Writes members of JSON objects. */
#include "site_gen/render/json.h"

#include "base/buf.h"
#include "base/clock.h"
#include "site_gen/data/data.h"
#include "site_gen/render/escape.h"

#define TEXT_MAX 400

void tk_json_add_key(struct tk_buf *out, const char *key)
{
	tk_buf_add_str(out, ",\"");
	tk_buf_add_str(out, key);
	tk_buf_add_str(out, "\":");
}

void tk_json_add_text(struct tk_buf *out, const char *key, const char *text)
{
	tk_json_add_key(out, key);
	tk_escape_json(out, text, tk_utf8_clip_len(text, TEXT_MAX));
}

void tk_json_add_number(struct tk_buf *out, const char *key, double v)
{
	tk_json_add_key(out, key);
	tk_data_add_number(out, v);
}

void tk_json_add_time(struct tk_buf *out, const char *key, int64_t t_s)
{
	char iso[TK_TIME_ISO_SIZE];
	if (t_s) {
		tk_json_add_text(out, key, tk_time_format_iso(t_s, iso));
	} else {
		tk_json_add_key(out, key);
		tk_buf_add_str(out, "null");
	}
}
