/* What all data files share: how a number, a text and a column are written. */
#include "site_gen/data/shard.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "site_gen/data/shard_internal.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"

void tk_shard_add_text(struct tk_buf *out, const char *text, size_t max)
{
	tk_escape_json(out, text, tk_utf8_clip_len(text, max));
}

void tk_shard_add_number(struct tk_buf *out, double v)
{
	char text[TK_FORMAT_SIZE];
	tk_buf_add_str(out, isfinite(v) ? tk_format_digits(v, 6, text) : "null");
}

void tk_shard_begin(struct tk_buf *out, const char *id)
{
	tk_buf_add_str(out, "tracker.data.add(");
	tk_escape_json(out, id, strlen(id));
	tk_buf_add_str(out, ",{");
}

int tk_shard_exponent(const struct tk_point *points, size_t count, int digits)
{
	double least = INFINITY;
	for (size_t i = 0; i < count; i++)
		if (points[i].value > 0 && points[i].value < least)
			least = points[i].value;
	return isfinite(least) ? (int)floor(log10(least)) + 1 - digits : 0;
}

void tk_shard_begin_column(struct tk_buf *out, const char *name)
{
	tk_buf_add_str(out, ",\"");
	tk_buf_add_str(out, name);
	tk_buf_add_str(out, "\":[");
}
