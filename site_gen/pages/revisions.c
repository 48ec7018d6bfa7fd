/* revisions/NAME.html: one commit: its change points, its builds and its machine code. */
#include <stdio.h>

#include "base/error.h"
#include "base/try.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

static int write_revision(struct tk_site *site, const struct tk_revision_row *r, const char *file,
        struct tk_error *err)
{
	char path[140], title[300];
	snprintf(path, sizeof path, "revisions/%s.html", file);
	const char *what = *r->subject ? r->subject : r->rev;
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(what, 160), what);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_UPSTREAMS);
	TRY(tk_page_add_sql(site, page, "revision", TK_ARGS(r->id), err));
	return tk_page_finish(site, "revision", path, err);
}

int tk_page_write_revisions(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	for (size_t i = 0; i < m->revision_rows.count; i++)
		if (m->revision_files[i])
			TRY(write_revision(site,
			        TK_ROWS_AT(&m->revision_rows, struct tk_revision_row, i),
			        m->revision_files[i], err));
	return 0;
}
