/* How data files are written. Private to shard*.c. */
#ifndef TK_SITE_SHARD_INTERNAL_H
#define TK_SITE_SHARD_INTERNAL_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tk_buf;
struct tk_model;
struct tk_point;

/* A field of a point, as an offset for tk_point_real() and tk_point_int(). */
#define TK_POINT_FIELD(name) offsetof(struct tk_point, name)
static inline double tk_point_real(const struct tk_point *p, size_t field)
{
	double v;
	memcpy(&v, (const char *)p + field, sizeof v);
	return v;
}

static inline int64_t tk_point_int(const struct tk_point *p, size_t field)
{
	int64_t v;
	memcpy(&v, (const char *)p + field, sizeof v);
	return v;
}

void tk_shard_add_text(struct tk_buf *out, const char *text, size_t max_bytes);
/* Opens "tracker.data.add(id,{". */
void tk_shard_begin(struct tk_buf *out, const char *id);
void tk_shard_begin_column(struct tk_buf *out, const char *name);

/* Values are stored in steps of a power of ten: the one that leaves the smallest value `digits`
 * digits. Four (0.05 %) are used for older points, five for recent ones. */
int tk_shard_exponent(const struct tk_point *points, size_t count, int digits);

/* llround(v * factor), faster */
static inline int64_t tk_shard_quantise(double v, double factor)
{
	double q = v * factor;
	if (!(fabs(q) < 9e15))
		return 0;
	int64_t whole = (int64_t)q;
	double rest = q - (double)whole;
	return whole + (rest >= 0.5) - (rest <= -0.5);
}

#endif
