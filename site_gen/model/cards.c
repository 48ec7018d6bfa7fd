/* Finds the devices of one model and decides which of them are comparable. */
#include "site_gen/model/cards.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/format_point.h"

/* Clocks and power caps have a tolerance because drivers round them differently. */
enum kind { ANY, GPU, CPU };
enum rule { RULE_EQUAL, RULE_MAJOR, RULE_WITHIN };
static const struct {
	const char *key, *title, *unit;
	enum rule rule;
	double tolerance; /* of the larger value, for RULE_WITHIN */
	enum kind kind;
} rules[] = {
        {"driver", "driver", "", RULE_MAJOR, 0, ANY}, /* of a CPU: the kernel */
        {"max_clock_mhz", "maximum clock", " MHz", RULE_WITHIN, 0.01, GPU},
        {"application_clock_mhz", "application clock", " MHz", RULE_WITHIN, 0.01, GPU},
        {"power_cap_w", "power cap", " W", RULE_WITHIN, 0.02, GPU},
        {"compute_units", "number of compute units", "", RULE_EQUAL, 0, ANY},
        {"ecc", "ECC", "", RULE_EQUAL, 0, GPU},
        {"mig", "MIG", "", RULE_EQUAL, 0, GPU},
        {"governor", "governor", "", RULE_EQUAL, 0, CPU},
        {"smt", "SMT", "", RULE_EQUAL, 0, CPU},
};
#define RULE_COUNT (sizeof rules / sizeof *rules)

static size_t major_len(const char *version)
{
	return strcspn(version, ".");
}

static bool agrees(size_t rule, const json_t *a, const json_t *b)
{
	if (rules[rule].rule == RULE_WITHIN && json_is_number(a) && json_is_number(b)) {
		double x = json_number_value(a), y = json_number_value(b);
		return fabs(x - y) <= rules[rule].tolerance * fmax(fabs(x), fabs(y));
	}
	if (rules[rule].rule == RULE_MAJOR && json_is_string(a) && json_is_string(b)) {
		const char *x = json_string_value(a), *y = json_string_value(b);
		return major_len(x) == major_len(y) && !strncmp(x, y, major_len(x));
	}
	return json_equal((json_t *)a, (json_t *)b);
}

static bool applies(size_t rule, const struct tk_card_member *a)
{
	return rules[rule].kind == ANY || (rules[rule].kind == GPU) == tk_device_is_gpu(a->device);
}

static bool has_same_arch(const struct tk_card_member *a, const struct tk_card_member *b)
{
	return !strcmp(a->device->row->arch, b->device->row->arch);
}

static bool is_comparable(const struct tk_card_member *a, const struct tk_card_member *b)
{
	if (!has_same_arch(a, b))
		return false;
	for (size_t i = 0; i < RULE_COUNT; i++) {
		const json_t *x = json_object_get(a->attributes, rules[i].key),
		             *y = json_object_get(b->attributes, rules[i].key);
		if (applies(i, a) && x && y && !agrees(i, x, y))
			return false;
	}
	return true;
}

/* Whether an earlier environment of a member agrees with its newest one. */
static bool environment_agrees(
        const struct tk_model *m, const struct tk_card_member *a, int64_t environment_id)
{
	const struct tk_environment_row *e =
	        tk_row_index_find(&m->environments_by_id, environment_id);
	struct tk_card_member earlier = {.device = a->device};
	if (environment_id == a->environment_id)
		return true;
	if (!e)
		return false;
	earlier.attributes = tk_attributes_flatten(e->attributes);
	bool agrees = is_comparable(a, &earlier);
	json_decref(earlier.attributes);
	return agrees;
}

static void add_text(struct tk_buf *out, const char *text)
{
	tk_buf_add(out, text, tk_utf8_clip_len(text, 40));
}

static void add_attribute(struct tk_buf *out, const json_t *v, const char *unit)
{
	if (json_is_string(v))
		add_text(out, json_string_value(v));
	else if (json_is_number(v))
		tk_buf_add_printf(out, "%.6g", json_number_value(v));
	else
		tk_buf_add_str(out, json_is_true(v) ? "on" : "off");
	tk_buf_add_str(out, unit);
}

void tk_card_add_obstacles(
        struct tk_buf *out, const struct tk_card_member *a, const struct tk_card_member *reference)
{
	const size_t start = out->len;
	if (!has_same_arch(a, reference)) {
		tk_buf_add_str(out, "architecture ");
		add_text(out, a->device->row->arch);
		tk_buf_add_str(out, " instead of ");
		add_text(out, reference->device->row->arch);
	}
	for (size_t i = 0; i < RULE_COUNT; i++) {
		const json_t *x = json_object_get(a->attributes, rules[i].key),
		             *y = json_object_get(reference->attributes, rules[i].key);
		if (!applies(i, a) || !x || !y || agrees(i, x, y))
			continue;
		tk_buf_add_printf(out, "%s%s ", out->len > start ? ", " : "", rules[i].title);
		add_attribute(out, x, rules[i].unit);
		tk_buf_add_str(out, " instead of ");
		add_attribute(out, y, rules[i].unit);
	}
}

void tk_card_add_settings(struct tk_buf *out, const struct tk_card_member *a)
{
	struct tk_buf missing = TK_BUF_INIT;
	const size_t start = out->len;
	for (size_t i = 0; i < RULE_COUNT; i++) {
		const json_t *v = json_object_get(a->attributes, rules[i].key);
		if (!applies(i, a))
			continue;
		if (!v) {
			tk_buf_add_printf(
			        &missing, "%s%s", missing.len ? ", " : "", rules[i].title);
			continue;
		}
		tk_buf_add_printf(out, "%s%s ", out->len > start ? ", " : "", rules[i].title);
		add_attribute(out, v, rules[i].unit);
	}
	if (missing.len)
		tk_buf_add_printf(out, "%snot recorded: %s", out->len > start ? "; " : "",
		        tk_buf_cstr(&missing));
	tk_buf_free(&missing);
}

const struct tk_card *tk_cards_find(
        const struct tk_cards *cards, const struct tk_site_device *device)
{
	for (size_t i = 0; i < cards->count; i++)
		for (size_t k = 0; k < cards->at[i].count; k++)
			if (cards->at[i].members[k].device == device)
				return &cards->at[i];
	return NULL;
}

const struct tk_card_member *tk_card_group(const struct tk_card *card, size_t group, size_t *count)
{
	const struct tk_card_member *first = NULL;
	*count = 0;
	for (size_t i = 0; i < card->count; i++)
		if (card->members[i].group == group) {
			first = first ? first : &card->members[i];
			++*count;
		}
	return first;
}

/* ---- loading ---- */

/* The environment of the newest point of a device; 0: never measured. */
static int64_t find_environment(const struct tk_model *m, const struct tk_site_device *device)
{
	const struct tk_point *newest = NULL;
	for (const struct tk_site_series *s = m->series; s < m->series + m->series_count; s++) {
		const struct tk_point *last = tk_series_last_point(s);
		if (s->device == device && last && tk_series_is_suite_time(s) &&
		        (!newest || last->as_of_s >= newest->as_of_s))
			newest = last;
	}
	return newest ? newest->environment_id : 0;
}

static int compare_members(const void *a, const void *b)
{
	const struct tk_card_member *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

/* Renumbers groups by size, largest first. Equal ones keep their order. */
static void order_groups(struct tk_card *card)
{
	for (size_t i = 0; i < card->count; i++)
		card->members[i].group += card->count; /* numbers not given yet */
	for (size_t next = 0; next < card->group_count; next++) {
		size_t best = 0, best_count = 0, count;
		for (size_t g = card->count; g < card->count + card->group_count; g++) {
			tk_card_group(card, g, &count);
			if (count > best_count)
				best = g, best_count = count;
		}
		for (size_t i = 0; i < card->count; i++)
			if (card->members[i].group == best)
				card->members[i].group = next;
	}
	qsort(card->members, card->count, sizeof *card->members, compare_members);
}

/* A device joins the first group whose first member it is comparable with. */
static void find_groups(struct tk_card *card)
{
	for (size_t i = 0; i < card->count; i++) {
		struct tk_card_member *member = &card->members[i];
		size_t group = 0;
		for (; group < card->group_count; group++) {
			size_t count;
			const struct tk_card_member *first = tk_card_group(card, group, &count);
			if (count < TK_CARD_GROUP_MAX && is_comparable(member, first))
				break;
		}
		member->group = group;
		card->group_count += group == card->group_count;
	}
	order_groups(card);
}

static bool is_same_model(const struct tk_site_device *a, const struct tk_site_device *b)
{
	return !strcmp(a->row->name, b->row->name) && !strcmp(a->row->kind, b->row->kind);
}

/* The card of a device's model, where it joins. */
static struct tk_card *find_card(
        const struct tk_model *m, const struct tk_site_device *device, struct tk_cards *cards)
{
	for (size_t i = 0; i < cards->count; i++)
		if (is_same_model(cards->at[i].members[0].device, device))
			return &cards->at[i];
	AUTO_TEXT name = tk_sprintf("%s.%s", device->row->kind, device->row->name);
	struct tk_card *card = &cards->at[cards->count++];
	*card = (struct tk_card){.name = device->row->name,
	        .file = tk_path_make_slug(name),
	        .members = tk_calloc(m->device_count, sizeof *card->members)};
	for (size_t i = 0; i < m->device_count; i++)
		card->members[i].group = SIZE_MAX; /* none yet */
	return card;
}

static void free_card(struct tk_card *card)
{
	for (size_t i = 0; i < card->count; i++)
		json_decref(card->members[i].attributes);
	free(card->members);
	free(card->file);
}

void tk_cards_load(const struct tk_model *m, struct tk_cards *out)
{
	struct tk_cards all = {.at = tk_calloc(m->device_count + 1, sizeof *all.at)};
	for (size_t i = 0; i < m->device_count; i++) {
		const struct tk_site_device *device = &m->devices[i];
		int64_t id = find_environment(m, device);
		if (!id)
			continue;
		const struct tk_environment_row *e = tk_row_index_find(&m->environments_by_id, id);
		struct tk_card *card = find_card(m, device, &all);
		struct tk_card_member *member = &card->members[card->count++];
		member->device = device;
		member->environment_id = id;
		member->attributes = e ? tk_attributes_flatten(e->attributes) : NULL;
	}
	*out = (struct tk_cards){.at = all.at};
	for (size_t i = 0; i < all.count; i++) {
		struct tk_card card = all.at[i];
		if (card.count < 2) {
			free_card(&card);
			continue;
		}
		find_groups(&card);
		out->at[out->count++] = card;
	}
}

void tk_cards_free(struct tk_cards *cards)
{
	for (size_t i = 0; i < cards->count; i++)
		free_card(&cards->at[i]);
	free(cards->at);
	*cards = (struct tk_cards){0};
}

/* ---- card ranking ---- */

static bool is_same_backend(const struct tk_site_series *a, const struct tk_site_series *b)
{
	return a->upstream == b->upstream && !strcmp(a->row->backend, b->row->backend) &&
	       !strcmp(a->row->config, b->row->config);
}

static size_t find_member(const struct tk_card_ranking *r, const struct tk_site_series *s)
{
	for (size_t i = 0; i < r->member_count; i++)
		if (r->members[i].device == s->device)
			return i;
	return TK_CARD_GROUP_MAX;
}

/* Neighbours have the same environment, mostly. */
static bool agrees_with_device(const struct tk_model *m, struct tk_card_ranking *r, size_t member,
        const struct tk_point *point)
{
	if (r->checked[member].environment_id != point->environment_id) {
		r->checked[member].environment_id = point->environment_id;
		r->checked[member].agrees =
		        environment_agrees(m, &r->members[member], point->environment_id);
	}
	return r->checked[member].agrees;
}

/* The revision that most devices have; of several the newest one. NULL: none is known. */
static const struct tk_revision_row *choose_revision(
        const struct tk_revision_row *const *revisions, size_t count)
{
	const struct tk_revision_row *best = NULL;
	size_t best_shares = 0;
	for (size_t i = 0; i < count; i++) {
		size_t shares = 0;
		for (size_t k = 0; revisions[i] && k < count; k++)
			shares += revisions[k] == revisions[i];
		bool is_newer = best && shares == best_shares && shares &&
		                revisions[i]->position > best->position;
		if (shares > best_shares || is_newer) {
			best = revisions[i];
			best_shares = shares;
		}
	}
	return best;
}

/* Marks what is compared: of one revision, in an environment that agrees with its device's. */
static void find_counted(
        const struct tk_model *m, struct tk_card_ranking *r, struct tk_card_row *row)
{
	const struct tk_revision_row *revisions[TK_CARD_GROUP_MAX] = {0}, *chosen;
	double lo = INFINITY, hi = 0;
	size_t counted = 0;
	for (size_t i = 0; i < r->member_count; i++) {
		const struct tk_point *last = row->at[i] ? tk_series_last_point(row->at[i]) : NULL;
		if (last && agrees_with_device(m, r, i, last))
			revisions[i] = tk_model_find_build_revision(m, last->build_id);
	}
	chosen = choose_revision(revisions, r->member_count);
	for (size_t i = 0; i < r->member_count; i++) {
		row->is_counted[i] = chosen && revisions[i] == chosen;
		if (!row->is_counted[i])
			continue;
		if (!row->is_ranked || tk_series_newest_value(row->at[i]) < lo)
			row->best = row->at[i];
		row->is_ranked = true;
		lo = fmin(lo, tk_series_newest_value(row->at[i]));
		hi = fmax(hi, tk_series_newest_value(row->at[i]));
		counted++;
	}
	row->spread = counted > 1 ? hi / lo - 1 : NAN;
}

static void add_to_pairs(struct tk_card_ranking *r, const struct tk_card_row *row)
{
	for (size_t i = 0; i < r->member_count; i++)
		for (size_t k = 0; k < r->member_count; k++) {
			struct tk_card_pair *pair = &r->pairs[i][k];
			if (i == k || !row->is_counted[i] || !row->is_counted[k])
				continue;
			double ratio = tk_series_newest_value(row->at[i]) /
			               tk_series_newest_value(row->at[k]);
			pair->lo = pair->count ? fmin(pair->lo, ratio) : ratio;
			pair->hi = pair->count ? fmax(pair->hi, ratio) : ratio;
			pair->log_sum += log(ratio);
			pair->count++;
		}
}

static int compare_best(const void *a, const void *b)
{
	const struct tk_card_row *x = a, *y = b;
	double d = tk_series_newest_value(x->best) - tk_series_newest_value(y->best);
	if (x->is_ranked != y->is_ranked)
		return x->is_ranked ? -1 : 1;
	return d < 0 ? -1 : d > 0;
}

/* Backends that tie with the fastest share its rank. Those without a compared timing are last and
 * have none. */
static void rank_rows(struct tk_card_row *rows, size_t count, double tie)
{
	qsort(rows, count, sizeof *rows, compare_best);
	size_t first_count = 0;
	for (size_t i = 0; i < count && rows[i].is_ranked; i++) {
		bool ties = tk_point_compare(tk_series_last_point(rows[0].best),
		                    tk_series_last_point(rows[i].best), tie) == TK_POINTS_TIE;
		rows[i].rank = ties ? 1 : i + 1;
		first_count += ties;
	}
	for (size_t i = 0; i < count; i++)
		rows[i].is_tied = rows[i].is_ranked && rows[i].rank == 1 && first_count > 1;
}

/* The rows of one problem, the series [first, end). There is room for one row a series. */
static void add_problem(
        const struct tk_model *m, struct tk_card_ranking *r, size_t first, size_t end, double tie)
{
	struct tk_card_row *rows = r->rows + r->row_count;
	size_t count = 0;
	for (size_t i = first; i < end; i++) {
		const struct tk_site_series *s = &m->series[i];
		size_t member = find_member(r, s), k = 0;
		if (member == TK_CARD_GROUP_MAX || !tk_series_is_ranked(s) ||
		        !(tk_series_newest_value(s) > 0))
			continue;
		while (k < count && (!is_same_backend(rows[k].best, s) || rows[k].at[member]))
			k++;
		if (k == count)
			rows[count++] = (struct tk_card_row){.best = s};
		rows[k].at[member] = s;
		if (tk_series_newest_value(s) < tk_series_newest_value(rows[k].best))
			rows[k].best = s;
	}
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		find_counted(m, r, &rows[i]);
		add_to_pairs(r, &rows[i]);
	}
	rank_rows(rows, count, tie);
	r->row_count += count;
}

/* The mean of the logarithms of a member's times relative to each other member's. */
static double slowness(const struct tk_card_ranking *r, size_t member)
{
	double sum = 0;
	size_t count = 0;
	for (size_t k = 0; k < r->member_count; k++) {
		const struct tk_card_pair *pair = &r->pairs[member][k];
		if (!pair->count)
			continue;
		sum += pair->log_sum / (double)pair->count;
		count++;
	}
	return count ? sum / (double)count : INFINITY; /* those without a pair are last */
}

static void order_members(struct tk_card_ranking *r)
{
	for (size_t i = 0; i < r->member_count; i++) {
		size_t at = i;
		for (; at && slowness(r, r->order[at - 1]) > slowness(r, i); at--)
			r->order[at] = r->order[at - 1];
		r->order[at] = i;
	}
}

static int compare_spread(const void *a, const void *b)
{
	const struct tk_card_row *x = a, *y = b;
	bool has_x = isfinite(x->spread), has_y = isfinite(y->spread);
	if (has_x != has_y)
		return has_x ? -1 : 1;
	if (has_x && x->spread != y->spread)
		return x->spread > y->spread ? -1 : 1;
	return x->best < y->best ? -1 : x->best > y->best; /* the order of the model */
}

void tk_card_ranking_load(const struct tk_model *m, const struct tk_card *card, size_t group,
        double tie, struct tk_card_ranking *out)
{
	*out = (struct tk_card_ranking){
	        .rows = tk_malloc((m->series_count + 1) * sizeof *out->rows)};
	out->members = tk_card_group(card, group, &out->member_count);
	for (size_t i = 0, end; i < m->series_count; i = end) {
		end = tk_model_problem_end(m, i);
		add_problem(m, out, i, end, tie);
	}
	order_members(out);
	qsort(out->rows, out->row_count, sizeof *out->rows, compare_spread);
}
