/* See timeline_shard.h. */
#include "site_gen/data/timeline_shard.h"

#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "site_gen/model/timeline.h"
#include "site_gen/render/escape.h"

static void add_text(struct tk_buf *out, const char *text)
{
	tk_escape_json(out, text, tk_utf8_clip_len(text, 60));
}

static void add_integers(struct tk_buf *out, const int64_t *values, size_t count)
{
	tk_buf_add_char(out, '[');
	tk_buf_add_ints(out, values, count);
	tk_buf_add_char(out, ']');
}

static void add_groups(struct tk_buf *out, const struct tk_timeline *t)
{
	for (size_t i = 0; i < t->group_count; i++) {
		const struct tk_timeline_group *g = &t->groups[i];
		const int64_t values[] = {g->block, (int64_t)g->lane, g->begin_ns, g->end_ns};
		tk_buf_add_str(out, i ? "," : "");
		add_integers(out, values, 4);
	}
}

static void add_spans(struct tk_buf *out, const struct tk_timeline *t)
{
	for (size_t i = 0; i < t->span_count; i++) {
		const struct tk_timeline_span *s = &t->spans[i];
		const int64_t values[] = {
		        (int64_t)s->group, (int64_t)s->region, s->begin_ns, s->end_ns, 1};
		tk_buf_add_str(out, i ? "," : "");
		add_integers(out, values, s->is_async ? 5 : 4);
	}
}

void tk_timeline_add_data(struct tk_buf *out, const struct tk_timeline *t, size_t index)
{
	tk_buf_add_printf(out, "tracker.data.add(\"timeline-%zu\",{\"kernel\":", index);
	add_text(out, t->kernel);
	tk_buf_add_str(out, ",\"duration_ns\":");
	tk_buf_add_int(out, t->duration_ns);
	tk_buf_add_str(out, ",\"regions\":[");
	for (size_t i = 0; i < t->region_count; i++) {
		tk_buf_add_str(out, i ? ",{\"name\":" : "{\"name\":");
		add_text(out, t->regions[i]);
		tk_buf_add_str(out, ",\"does\":");
		add_text(out, tk_does_names[t->does[i]]);
		tk_buf_add_char(out, '}');
	}
	tk_buf_add_str(out, "],\"lanes\":[");
	for (size_t i = 0; i < t->lane_count; i++) {
		tk_buf_add_str(out, i ? "," : "");
		add_text(out, t->lanes[i]);
	}
	tk_buf_add_str(out, "],\n\"groups\":[");
	add_groups(out, t);
	tk_buf_add_str(out, "],\n\"spans\":[");
	add_spans(out, t);
	tk_buf_add_str(out, "]});\n");
}
