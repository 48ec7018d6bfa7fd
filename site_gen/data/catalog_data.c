/* Data files of revisions, nights, environments and timelines, and the manifest. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/present.h"
#include "site_gen/data/chart_data.h"
#include "site_gen/data/data.h"
#include "site_gen/model/links.h"
#include "site_gen/model/model.h"
#include "site_gen/model/timeline.h"
#include "site_gen/render/escape.h"

#define SUBJECT_BYTES 140
#define REV_BYTES 40
#define NAME_BYTES 60

void tk_data_add_revisions(
        struct tk_buf *out, const struct tk_model *m, const struct tk_upstream_row *upstream)
{
	struct tk_buf ids = TK_BUF_INIT; /* oldest first */
	tk_data_begin(out, "revisions");
	for (size_t i = 0; i < m->revision_rows.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i);
		if (r->upstream_id != upstream->id)
			continue;
		tk_buf_add_printf(out, "%s\"%lld\":[", ids.len ? ",\n" : "\n", (long long)r->id);
		tk_buf_add_printf(&ids, ids.len ? ",%lld" : "%lld", (long long)r->id);
		tk_data_add_text(out, r->rev, REV_BYTES);
		tk_buf_add_char(out, ',');
		tk_data_add_text(out, r->subject, SUBJECT_BYTES);
		char link[TK_LINK_SIZE];
		tk_buf_add_char(out, ',');
		tk_data_add_text(out, tk_link_commit(upstream->url, r->rev, link), TK_LINK_SIZE);
		if (m->revision_files[i])
			tk_buf_add_printf(out, ",\"revisions/%s.html\"", m->revision_files[i]);
		tk_buf_add_char(out, ']');
	}
	tk_buf_add_printf(out,
	        "});\ntracker.data.add(\"data/revisions-%lld.js\",{\"ids\":[%s]});\n",
	        (long long)upstream->id, tk_buf_cstr(&ids));
	tk_buf_free(&ids);
}

/* Ids and times of all nights as differences; the pages that exist, by id. */
void tk_data_add_nights(struct tk_buf *out, const struct tk_model *m)
{
	int64_t before = 0;
	tk_data_begin(out, "nights");
	for (int column = 0; column < 2; column++) {
		tk_buf_add_str(out, column ? "],\"time\":[" : "\"id\":[");
		before = 0;
		for (size_t i = 0; i < m->nights_by_id.count; i++) {
			const struct tk_night_row *n = m->nights_by_id.entries[i].row;
			int64_t v = column ? n->as_of_s : n->id;
			if (i)
				tk_buf_add_char(out, ',');
			tk_buf_add_int(out, v - before);
			before = v;
		}
	}
	tk_buf_add_str(out, "],\"page\":{");
	bool first = true;
	for (size_t i = 0; i < m->night_count; i++) {
		if (!m->nights[i].file)
			continue;
		tk_buf_add_printf(out, "%s\"%lld\":\"nights/%s.html\"", first ? "\n" : ",\n",
		        (long long)m->nights[i].row->id, m->nights[i].file);
		first = false;
	}
	tk_buf_add_str(out, "}});\n");
}

void tk_data_add_environments(struct tk_buf *out, const struct tk_model *m)
{
	tk_data_begin(out, "environments");
	for (size_t i = 0; i < m->environment_rows.count; i++) {
		const struct tk_environment_row *e = TK_ROWS_AT(&m->environment_rows,
		                                        struct tk_environment_row, i),
		                                *before = NULL;
		struct tk_buf text = TK_BUF_INIT;
		for (size_t k = 1; k <= i && !before; k++)
			before = e[-k].device_id == e->device_id ? &e[-k] : NULL;
		if (before)
			tk_environment_add_diff(&text, before->attributes, e->attributes);
		tk_buf_add_printf(out, "%s\"%lld\":", i ? ",\n" : "\n", (long long)e->id);
		tk_data_add_text(out, tk_buf_cstr(&text), 200);
		tk_buf_free(&text);
	}
	tk_buf_add_str(out, "});\n");
}

void tk_data_add_manifest(struct tk_buf *out, const struct tk_chart_data *data)
{
	const struct tk_model *m = data->model;
	tk_data_begin(out, "manifest");
	tk_buf_add_str(out, "\"format\":5,\"groups\":[");
	for (size_t i = 0; i < data->group_count; i++) {
		tk_buf_add_str(out, i ? ",\n" : "\n");
		tk_chart_data_add_files_json(data, out, i);
	}
	tk_buf_add_str(out, "],\"series\":[");
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		tk_buf_add_str(out, i ? ",\n{\"id\":" : "\n{\"id\":");
		tk_data_add_text(out, s->row->slug, 200);
		tk_buf_add_printf(out, ",\"page\":\"series/%s.html\",\"group\":%zu}", s->file,
		        data->group_of[i]);
	}
	tk_buf_add_str(out, "]});\n");
}

/* ---- timelines ---- */

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

void tk_data_add_timeline(struct tk_buf *out, const struct tk_timeline *t, size_t index)
{
	tk_buf_add_printf(out, "tracker.data.add(\"timeline-%zu\",{\"kernel\":", index);
	tk_data_add_text(out, t->kernel, NAME_BYTES);
	tk_buf_add_str(out, ",\"duration_ns\":");
	tk_buf_add_int(out, t->duration_ns);
	tk_buf_add_str(out, ",\"regions\":[");
	for (size_t i = 0; i < t->region_count; i++) {
		tk_buf_add_str(out, i ? ",{\"name\":" : "{\"name\":");
		tk_data_add_text(out, t->regions[i], NAME_BYTES);
		tk_buf_add_str(out, ",\"does\":");
		tk_data_add_text(out, tk_does_names[t->does[i]], NAME_BYTES);
		tk_buf_add_char(out, '}');
	}
	tk_buf_add_str(out, "],\"lanes\":[");
	for (size_t i = 0; i < t->lane_count; i++) {
		tk_buf_add_str(out, i ? "," : "");
		tk_data_add_text(out, t->lanes[i], NAME_BYTES);
	}
	tk_buf_add_str(out, "],\n\"groups\":[");
	add_groups(out, t);
	tk_buf_add_str(out, "],\n\"spans\":[");
	add_spans(out, t);
	tk_buf_add_str(out, "]});\n");
}
