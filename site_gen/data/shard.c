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
		if (points[i].value > 0)
			least = fmin(least, points[i].value);
	return isfinite(least) ? (int)floor(log10(least)) + 1 - digits : 0;
}

int64_t tk_shard_quantise(double v, double factor)
{
	double q = v * factor;
	if (!(fabs(q) < 9e15))
		return 0;
	int64_t whole = (int64_t)q;
	double rest = q - (double)whole;
	return whole + (rest >= 0.5) - (rest <= -0.5);
}

double tk_point_real(const struct tk_point *p, size_t field)
{
	double v;
	memcpy(&v, (const char *)p + field, sizeof v);
	return v;
}

int64_t tk_point_int(const struct tk_point *p, size_t field)
{
	int64_t v;
	memcpy(&v, (const char *)p + field, sizeof v);
	return v;
}

void tk_shard_begin_column(struct tk_buf *out, const char *name)
{
	tk_buf_add_str(out, ",\"");
	tk_buf_add_str(out, name);
	tk_buf_add_str(out, "\":[");
}

int64_t tk_shard_revision_id(const struct tk_model *m, int64_t id)
{
	const struct tk_build_row *build = tk_row_index_find(&m->builds_by_id, id);
	return build ? build->revision_id : 0;
}
