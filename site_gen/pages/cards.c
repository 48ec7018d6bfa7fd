/* cards/MODEL.html: the devices of one model, from several machines: which are comparable, how fast
 * they are relative to each other, and their backends ranked together. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/present.h"
#include "base/try.h"
#include "site_gen/model/cards.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define ROWS_MAX 300

void tk_cards_set_list(struct tk_value *page, const struct tk_cards *cards)
{
	struct tk_value *list = tk_value_add_list(page, "cards");
	for (size_t i = 0; i < cards->count; i++) {
		const struct tk_card *card = &cards->at[i];
		struct tk_value *o = tk_value_append(list);
		size_t comparable;
		tk_card_group(card, 0, &comparable);
		tk_value_set_clip(o, "card", card->name, 80);
		tk_value_set_fmt(o, "card_href", "../cards/%s.html", card->file);
		tk_value_set_int(o, "card_devices", card->count);
		tk_value_set_fmt(o, "comparable", comparable < 2 ? "none" : "%zu", comparable);
	}
}

static void set_name(struct tk_value *o, const char *key, const struct tk_card_member *member)
{
	tk_value_set_clip(o, key, member->device->name, 80);
}

/* "3.1 % slower than", "as fast as" and what it is relative to; how, by, than, timings, range. */
static void set_speed(struct tk_site *site, struct tk_value *o, const struct tk_card_ranking *r,
        size_t member, size_t fastest)
{
	const struct tk_card_pair *pair = &r->pairs[member][fastest];
	char text[TK_FORMAT_SIZE];
	double change = pair->count ? exp(pair->log_sum / (double)pair->count) - 1 : NAN;
	bool tie = fabs(change) < site->options->tie;
	tk_value_set_flag(o, "is_fastest", member == fastest);
	tk_value_set_flag(o, "is_compared", pair->count > 0);
	set_name(o, "than", &r->members[fastest]);
	tk_value_set(o, "by", tie ? "" : tk_format_percent(fabs(change), text));
	tk_value_set(o, "how", tie ? "as fast as" : change > 0 ? "slower than" : "faster than");
	tk_tone_set(o, "tone", tie || !(change > 0) ? TK_TONE_QUIET : TK_TONE_BAD);
	tk_value_set_int(o, "timings", pair->count);
	tk_value_set(o, "range",
	        pair->count ? tk_format_change_range(change, pair->lo - 1, pair->hi - 1, text)
	                    : "");
}

static void add_members(
        struct tk_site *site, struct tk_value *group, const struct tk_card_ranking *r)
{
	struct tk_value *list = tk_value_add_list(group, "members");
	for (size_t i = 0; i < r->member_count; i++) {
		const struct tk_card_member *member = &r->members[r->order[i]];
		struct tk_value *o = tk_value_append(list);
		struct tk_buf settings = TK_BUF_INIT;
		const struct tk_night_row *night = member->device->machine->last_night;
		tk_card_add_settings(&settings, member);
		set_name(o, "device", member);
		tk_value_set_fmt(
		        o, "machine_href", "../machines/%s.html", member->device->machine->file);
		set_speed(site, o, r, r->order[i], r->order[0]);
		tk_value_set_clip(o, "settings", tk_buf_cstr(&settings), 400);
		tk_value_set_time(o, "night", night ? night->as_of_s : 0);
		tk_buf_free(&settings);
	}
}

static void add_cell(
        struct tk_site *site, struct tk_value *cells, const struct tk_card_row *row, size_t member)
{
	const struct tk_site_series *s = row->at[member];
	struct tk_value *o = tk_value_append(cells);
	char path[TK_PAGE_PATH_SIZE];
	tk_value_set_flag(o, "is_there", s != NULL);
	if (!s)
		return;
	const double value = tk_series_last_point(s)->value;
	const char *unit;
	double rate = tk_series_rate(s, value, &unit);
	snprintf(path, sizeof path, "series/%s.html", s->file);
	tk_value_set_fmt(o, "href", "../%s", path);
	tk_value_set_quantity(o, "value", value, s->row->unit, "–");
	tk_value_set_quantity(o, "rate", rate, unit, "");
	tk_value_set_flag(o, "fastest",
	        s == row->best && isfinite(row->spread) && row->spread >= site->options->tie);
	tk_value_set_flag(o, "is_other", !row->is_counted[member]);
}

static void add_rows(struct tk_site *site, struct tk_value *group, const struct tk_card_ranking *r)
{
	struct tk_value *heads = tk_value_add_list(group, "heads"),
	                *rows = tk_value_add_list(group, "rows");
	for (size_t i = 0; i < r->member_count; i++)
		set_name(tk_value_append(heads), "head", &r->members[r->order[i]]);
	for (size_t i = 0; i < r->row_count && i < ROWS_MAX; i++) {
		const struct tk_card_row *row = &r->rows[i];
		struct tk_value *o = tk_value_append(rows);
		tk_value_set_clip(o, "problem", row->best->problem->title, 100);
		tk_value_set_clip(o, "backend", row->best->variant, 80);
		tk_value_set_fmt(o, "rank", row->is_ranked ? "%zu" : "–", row->rank);
		tk_value_set_flag(o, "is_tied", row->is_tied);
		tk_value_set_percent(o, "spread", row->spread, "–");
		struct tk_value *cells = tk_value_add_list(o, "cells");
		for (size_t k = 0; k < r->member_count; k++)
			add_cell(site, cells, row, r->order[k]);
	}
	size_t more = r->row_count > ROWS_MAX ? r->row_count - ROWS_MAX : 0;
	tk_value_set_fmt(group, "more", more ? "%zu" : "", more);
}

static void set_obstacles(
        struct tk_value *group, const struct tk_card *card, const struct tk_card_member *member)
{
	struct tk_buf text = TK_BUF_INIT;
	tk_card_add_obstacles(&text, member, &card->members[0]);
	tk_value_set_clip(
	        group, "obstacles", text.len ? tk_buf_cstr(&text) : "the table above is full", 400);
	set_name(group, "reference", &card->members[0]);
	tk_buf_free(&text);
}

static int add_group(struct tk_site *site, struct tk_value *groups, const struct tk_card *card,
        size_t index, struct tk_error *err)
{
	struct tk_card_ranking r;
	struct tk_value *group = tk_value_append(groups);
	tk_card_ranking_load(&site->model, card, index, site->options->tie, &r);
	int status = 0;
	if (!status) {
		tk_value_set_flag(group, "is_first", index == 0);
		tk_value_set_flag(group, "is_several", r.member_count > 1);
		tk_value_set_int(group, "number", index + 1);
		set_name(group, "first_device", &r.members[0]);
		if (index)
			set_obstacles(group, card, &r.members[0]);
		add_members(site, group, &r);
		if (r.member_count > 1)
			add_rows(site, group, &r);
	}
	free(r.rows);
	return status;
}

static int write_card(struct tk_site *site, const struct tk_card *card, struct tk_error *err)
{
	char path[128], title[120];
	snprintf(path, sizeof path, "cards/%s.html", card->file);
	snprintf(title, sizeof title, "%.*s", (int)tk_utf8_clip_len(card->name, 100), card->name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_MACHINES);
	struct tk_value *groups = tk_value_add_list(page, "groups");
	tk_value_set_int(page, "devices", card->count);
	tk_value_set_percent(page, "tie", site->options->tie, "–");
	for (size_t i = 0; i < card->group_count; i++)
		TRY(add_group(site, groups, card, i, err));
	return tk_page_finish(site, "card", path, err);
}

int tk_cards_write(struct tk_site *site, const struct tk_cards *cards, struct tk_error *err)
{
	for (size_t i = 0; i < cards->count; i++)
		TRY(write_card(site, &cards->at[i], err));
	return 0;
}
