/* The file: a header, then shards, years of the groups, and series, as they are in memory. */
#include "site_gen/data/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "site_gen/render/format_point.h"
#include "site_gen/render/output.h"

#define MAGIC "tkstate2"

struct head {
	char magic[8];
	int64_t build;
	uint64_t series_size, series, shards, groups;
};

static size_t state_size(const struct tk_site_state *s)
{
	return sizeof(struct head) + s->shard_count * sizeof *s->shards +
	       s->group_count * sizeof *s->years + s->series_count * sizeof *s->series;
}

int tk_state_new(
        struct tk_site_state *s, size_t series, size_t shards, size_t groups, struct tk_error *err)
{
	*s = (struct tk_site_state){
	        .series_count = series, .shard_count = shards, .group_count = groups};
	s->image = tk_malloc(state_size(s) + 1);
	s->shards = (struct tk_shard_state *)(s->image + sizeof(struct head));
	s->years = (uint64_t *)(s->shards + shards);
	s->series = (struct tk_series_state *)(s->years + groups);
	tk_state_clear(s);
	return 0;
}

void tk_state_clear(struct tk_site_state *s)
{
	s->build = 0;
	s->is_changed = true;
	memset(s->series, 0, s->series_count * sizeof *s->series);
	memset(s->shards, 0, s->shard_count * sizeof *s->shards);
	memset(s->years, 0, s->group_count * sizeof *s->years);
	for (size_t i = 0; i < s->series_count; i++)
		s->series[i].badge_value = NAN;
}

static struct head make_head(const struct tk_site_state *s, int64_t build)
{
	struct head h = {.build = build,
	        .series_size = sizeof *s->series,
	        .series = s->series_count,
	        .shards = s->shard_count,
	        .groups = s->group_count};
	memcpy(h.magic, MAGIC, sizeof h.magic);
	return h;
}

bool tk_state_read(struct tk_site_state *s, const struct tk_output *out, int64_t build)
{
	struct head wanted = make_head(s, build);
	if (!tk_output_read_old_exact(out, TK_SITE_STATE, s->image, state_size(s)) ||
	        memcmp(s->image, &wanted, sizeof wanted))
		return false;
	s->build = build;
	s->is_changed = false;
	for (size_t i = 0; i < s->series_count; i++)
		if (s->series[i].trace.count > TK_SITE_WINDOW_POINTS)
			s->series[i].trace.count = 0;
	return true;
}

int tk_state_write(const struct tk_site_state *s, struct tk_output *out, struct tk_error *err)
{
	struct head h = make_head(s, s->build);
	memcpy(s->image, &h, sizeof h);
	struct tk_buf file = {.data = s->image, .len = state_size(s), .cap = state_size(s) + 1};
	return tk_output_put_new(out, TK_SITE_STATE, &file, err);
}

void tk_state_free(struct tk_site_state *s)
{
	free(s->image);
	*s = (struct tk_site_state){0};
}

uint64_t tk_fnv1a_add(uint64_t h, const char *text)
{
	for (;; text++) {
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
		if (!*text)
			return h;
	}
}

void tk_trace_add_point(struct tk_trace *t, const struct tk_point *p)
{
	if (t->count == TK_SITE_WINDOW_POINTS)
		memmove(&t->at[0], &t->at[1], --t->count * sizeof t->at[0]);
	int64_t at_s = p->as_of_s < 0 ? 0 : p->as_of_s > UINT32_MAX ? UINT32_MAX : p->as_of_s;
	bool known = tk_point_has_interval(p);
	t->at[t->count++] = (struct tk_trace_point){(uint32_t)at_s, (float)p->value,
	        known ? (float)p->lo : NAN, known ? (float)p->hi : NAN};
}
