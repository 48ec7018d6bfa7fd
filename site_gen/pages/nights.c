/* nights/: the list of nights, and a page for each: upstreams, builds, measurements, verdicts. */
#include <stdio.h>

#include "base/error.h"
#include "base/present.h"
#include "base/try.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

void tk_page_set_night_link(struct tk_value *o, const struct tk_site_night *night)
{
	bool has_page = night && night->file;
	tk_value_set_flag(o, "page", has_page);
	tk_value_set_fmt(o, "href", "%s.html", has_page ? night->file : "");
}

static int write_night(
        struct tk_site *site, const struct tk_site_night *night, struct tk_error *err)
{
	const char *machine = night->machine->row->name;
	char path[128], title[200], when[TK_FORMAT_SIZE];
	snprintf(path, sizeof path, "nights/%s.html", night->file);
	snprintf(title, sizeof title, "Night of %s on %.*s",
	        tk_format_minute(night->row->as_of_s, when), (int)tk_utf8_clip_len(machine, 80),
	        machine);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_NIGHTS);
	TRY(tk_page_add_sql(site, page, "night", TK_ARGS(night->row->id), err));
	return tk_page_finish(site, "night", path, err);
}

int tk_page_write_nights(struct tk_site *site, struct tk_error *err)
{
	struct tk_value *page =
	        tk_page_begin(site, "nights/index.html", "Nights", TK_SECTION_NIGHTS);
	TRY(tk_page_add_sql(site, page, "nights", TK_NO_ARGS, err));
	TRY(tk_page_finish(site, "nights", "nights/index.html", err));
	for (size_t i = 0; i < site->model.night_count; i++)
		if (site->model.nights[i].file)
			TRY(write_night(site, &site->model.nights[i], err));
	return 0;
}
