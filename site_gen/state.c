/* The file: a head, then the shards, the years of the groups and the series as they are in memory. */
#include "site_gen/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "site_gen/output.h"

#define MAGIC "tkstate1"

struct head {
	char magic[8];
	int64_t build;
	uint64_t series_size, series, shards, groups;
};

int tk_state_new(struct tk_site_state *s, size_t series, size_t shards, size_t groups, struct tk_error *err)
{
	*s = (struct tk_site_state){.series_count = series,
	        .shard_count = shards,
	        .group_count = groups,
	        .series = calloc(series + 1, sizeof *s->series),
	        .shards = calloc(shards + 1, sizeof *s->shards),
	        .years = calloc(groups + 1, sizeof *s->years)};
	if (!s->series || !s->shards || !s->years)
		return tk_fail(err, TK_ENOMEM, "out of memory");
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

static struct head head_of(const struct tk_site_state *s, int64_t build)
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
	struct head wanted = head_of(s, build);
	size_t shards = s->shard_count * sizeof *s->shards, years = s->group_count * sizeof *s->years,
	       series = s->series_count * sizeof *s->series, size = sizeof wanted + shards + years + series;
	struct tk_buf file = TK_BUF_INIT;
	bool fits = !tk_output_old(out, TK_SITE_STATE, size, &file, NULL) && file.len == size &&
	            !memcmp(file.data, &wanted, sizeof wanted);
	if (fits) {
		const char *at = file.data + sizeof wanted;
		memcpy(s->shards, at, shards);
		memcpy(s->years, at + shards, years);
		memcpy(s->series, at + shards + years, series);
		s->build = build;
		s->is_changed = false;
	}
	for (size_t i = 0; fits && i < s->series_count; i++)
		if (s->series[i].trace.count > TK_SITE_WINDOW)
			s->series[i].trace.count = 0;
	tk_buf_free(&file);
	return fits;
}

int tk_state_write(const struct tk_site_state *s, struct tk_output *out, struct tk_error *err)
{
	struct head h = head_of(s, s->build);
	struct tk_buf file = TK_BUF_INIT;
	tk_buf_add(&file, &h, sizeof h);
	tk_buf_add(&file, s->shards, s->shard_count * sizeof *s->shards);
	tk_buf_add(&file, s->years, s->group_count * sizeof *s->years);
	tk_buf_add(&file, s->series, s->series_count * sizeof *s->series);
	int status = tk_output_put_new(out, TK_SITE_STATE, &file, err);
	tk_buf_free(&file);
	return status;
}

void tk_state_free(struct tk_site_state *s)
{
	free(s->series);
	free(s->shards);
	free(s->years);
	*s = (struct tk_site_state){0};
}

uint64_t tk_mix(uint64_t h, const char *text)
{
	for (;; text++) {
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
		if (!*text)
			return h;
	}
}

void tk_trace_add(struct tk_trace *t, const struct tk_point *p)
{
	if (t->count == TK_SITE_WINDOW)
		memmove(&t->at[0], &t->at[1], --t->count * sizeof t->at[0]);
	int64_t at_s = p->as_of_s < 0 ? 0 : p->as_of_s > UINT32_MAX ? UINT32_MAX : p->as_of_s;
	t->at[t->count++] = (struct tk_trace_point){(uint32_t)at_s, (float)p->value, (float)p->lo, (float)p->hi};
}
