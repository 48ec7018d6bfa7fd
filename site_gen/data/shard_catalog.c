/* Data files of revisions, nights and environments, and the manifest. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/format.h"
#include "site_gen/data/shard.h"
#include "site_gen/data/shard_internal.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"

#define SUBJECT_BYTES 140
#define REV_BYTES 40

void tk_shard_add_revisions(
        struct tk_buf *out, const struct tk_model *m, const struct tk_upstream_row *upstream)
{
	bool first = true;
	tk_shard_begin(out, "revisions");
	for (size_t i = 0; i < m->revision_rows.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i);
		if (r->upstream_id != upstream->id)
			continue;
		tk_buf_add_printf(out, "%s\"%lld\":[", first ? "\n" : ",\n", (long long)r->id);
		tk_shard_add_text(out, r->rev, REV_BYTES);
		tk_buf_add_char(out, ',');
		tk_shard_add_text(out, r->subject, SUBJECT_BYTES);
		char link[TK_LINK_SIZE];
		tk_buf_add_char(out, ',');
		tk_shard_add_text(out, tk_link_commit(upstream->url, r->rev, link), TK_LINK_SIZE);
		if (m->revision_changes.revisions[i].file)
			tk_buf_add_printf(out, ",\"revisions/%s.html\"",
			        m->revision_changes.revisions[i].file);
		tk_buf_add_char(out, ']');
		first = false;
	}
	tk_buf_add_str(out, "});\n");
	/* the ids of this upstream's revisions, oldest first */
	tk_buf_add_printf(out, "tracker.data.add(\"data/revisions-%lld.js\",{\"ids\":[",
	        (long long)upstream->id);
	first = true;
	for (size_t i = 0; i < m->revision_rows.count; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i);
		if (r->upstream_id == upstream->id)
			tk_buf_add_printf(out, first ? "%lld" : ",%lld", (long long)r->id),
			        first = false;
	}
	tk_buf_add_str(out, "]});\n");
}

/* Ids and times of all nights as differences; the pages that exist, by id. */
void tk_shard_add_nights(struct tk_buf *out, const struct tk_model *m)
{
	int64_t before = 0;
	tk_shard_begin(out, "nights");
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

void tk_shard_add_environments(struct tk_buf *out, const struct tk_model *m)
{
	bool first = true;
	tk_shard_begin(out, "environments");
	for (size_t i = 0; i < m->environment_rows.count; i++) {
		const struct tk_environment_row *e =
		        TK_ROWS_AT(&m->environment_rows, struct tk_environment_row, i);
		const struct tk_environment_row *before = tk_environment_find_previous(m, e);
		struct tk_buf text = TK_BUF_INIT;
		if (before)
			tk_environment_add_diff(&text, before->attributes, e->attributes);
		tk_buf_add_printf(out, "%s\"%lld\":", first ? "\n" : ",\n", (long long)e->id);
		tk_shard_add_text(out, tk_buf_cstr(&text), 200);
		tk_buf_free(&text);
		first = false;
	}
	tk_buf_add_str(out, "});\n");
}

void tk_shard_add_manifest(struct tk_buf *out, const struct tk_site *site)
{
	const struct tk_model *m = &site->model;
	const struct tk_chart_data *data = &site->data;
	tk_shard_begin(out, "manifest");
	tk_buf_add_str(out, "\"format\":4,\"groups\":[");
	for (size_t i = 0; i < data->group_count; i++) {
		tk_buf_add_str(out, i ? ",\n" : "\n");
		tk_chart_data_add_files_json(out, site, i);
	}
	tk_buf_add_str(out, "],\"series\":[");
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		tk_buf_add_str(out, i ? ",\n{\"id\":" : "\n{\"id\":");
		tk_shard_add_text(out, s->row->slug, 200);
		tk_buf_add_printf(out, ",\"page\":\"series/%s.html\",\"group\":%zu}", s->file,
		        data->group_of[i]);
	}
	tk_buf_add_str(out, "]});\n");
}
