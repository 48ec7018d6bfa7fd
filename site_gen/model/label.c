/* Labels that are unique on a page. */
#include "site_gen/model/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/memory.h"
#include "site_gen/model/links.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"

/* An upstream of a backend. */
struct owner {
	const char *backend;
	const struct tk_upstream_row *upstream;
};
struct owners {
	struct owner *at;
	size_t count;
};

static int owner_order(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;
	int d = strcmp(x->backend, y->backend);
	if (!d)
		d = strcmp(x->upstream->name, y->upstream->name);
	return d ? d : x->upstream->id < y->upstream->id ? -1 : x->upstream->id > y->upstream->id;
}

static void owners_find(const struct tk_model *m, struct owners *out)
{
	out->at = tk_malloc((m->series_count + 1) * sizeof *out->at);
	for (size_t i = 0; i < m->series_count; i++)
		out->at[i] = (struct owner){m->series[i].row->backend, m->series[i].upstream};
	qsort(out->at, m->series_count, sizeof *out->at, owner_order);
	for (size_t i = 0; i < m->series_count; i++)
		if (!out->count || owner_order(&out->at[out->count - 1], &out->at[i]))
			out->at[out->count++] = out->at[i];
}

/* " (upstream)" where others have the backend too, unless the upstream is named after the backend;
 * the address as well where even the name is taken twice. */
static void add_upstream(
        struct tk_buf *b, const struct owners *owners, const struct tk_site_series *s)
{
	struct owner key = {s->row->backend, s->upstream};
	const struct owner *own = bsearch(&key, owners->at, owners->count, sizeof key, owner_order);
	size_t i = (size_t)(own - owners->at);
	bool before = i > 0 && !strcmp(own[-1].backend, own->backend);
	bool after = i + 1 < owners->count && !strcmp(own[1].backend, own->backend);
	bool twin = (before && !strcmp(own[-1].upstream->name, own->upstream->name)) ||
	            (after && !strcmp(own[1].upstream->name, own->upstream->name));
	char link[TK_LINK_SIZE];
	if ((!before && !after) || (!twin && !strcmp(own->upstream->name, own->backend)))
		return;
	tk_buf_add_printf(
	        b, " (%.*s", (int)tk_utf8_clip_len(own->upstream->name, 60), own->upstream->name);
	if (twin)
		tk_buf_add_printf(b, ", %s",
		        *own->upstream->url ? tk_link_strip_user(own->upstream->url, link)
		                            : own->upstream->kind);
	tk_buf_add_char(b, ')');
}

static void make_label(struct tk_site_series *s, const struct owners *owners)
{
	struct tk_buf b = TK_BUF_INIT;
	tk_buf_add_str(&b, s->row->backend);
	add_upstream(&b, owners, s);
	if (*s->row->config)
		tk_buf_add_printf(&b, " · %s", s->row->config);
	s->variant = b.data ? tk_strdup(b.data) : NULL;
	if (strcmp(s->row->mode, s->device->mode))
		tk_buf_add_printf(&b, " · %s", s->row->mode);
	if (s->metric != TK_METRIC_TIME)
		tk_buf_add_printf(&b, " · %s", s->row->metric);
	s->label = tk_buf_detach(&b, NULL);
}

int tk_labels_assign(struct tk_model *m, struct tk_error *err)
{
	struct owners owners = {0};
	owners_find(m, &owners);
	int status = 0;
	for (size_t i = 0; !status && i < m->series_count; i++)
		make_label(&m->series[i], &owners);
	free(owners.at);
	return status;
}
