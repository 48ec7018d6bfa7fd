/* tunings/index.html: the stored results of `tracker tune`, a table for each backend on a device,
 * and the rules that they give. */
#include <string.h>

#include "base/error.h"
#include "site_gen/model/tunings.h"
#include "site_gen/pages/tuning.h"
#include "store/tuning.h"
#include "store/tuning_groups.h"

#define RULE_SIZE 400

static void add_rules(struct tk_value *list, const struct tk_tune_rules *rules)
{
	char text[RULE_SIZE];
	for (size_t i = 0; i < rules->count; i++) {
		struct tk_value *o = tk_value_append(list);
		tk_value_set_clip(o, "sweep", rules->at[i].sweep, 160);
		tk_value_set_clip(o, "rule", tk_tune_rule_format(&rules->at[i], text, sizeof text),
		        RULE_SIZE);
	}
}

static void add_row(struct tk_site *site, struct tk_value *list, const struct tk_site_tuning *t)
{
	struct tk_value *o = tk_value_append(list);
	tk_tuning_set_summary(o, t);
	tk_value_set_clip(o, "problem", t->problem->title, 120);
	tk_value_set_fmt(o, "href", "%s.html", t->file);
}

static int add_group(struct tk_site *site, struct tk_value *groups,
        const struct tk_site_tuning *tunings, size_t count, struct tk_error *err)
{
	struct tk_value *o = tk_value_append(groups);
	struct tk_value *rows = tk_value_add_list(o, "rows");
	const struct tk_tuning_row *r = tunings->row;
	struct tk_tune_rules rules;
	tk_value_set_clip(o, "backend", r->backend, 60);
	tk_value_set_clip(o, "upstream", strcmp(r->upstream, r->backend) ? r->upstream : "", 60);
	tk_value_set_clip(o, "device", tunings->device->name, 80);
	tk_value_set_clip(o, "device_name", tunings->device->row->name, 80);
	tk_value_set_clip(o, "mode", r->mode, 40);
	tk_value_set_clip(o, "options", r->options, 100);
	for (size_t i = 0; i < count; i++)
		add_row(site, rows, &tunings[i]);
	int status = tk_tuning_group_find_rules(
	        tunings->group, &site->model.problems_by_id, &rules, err);
	add_rules(tk_value_add_list(o, "rules"), &rules);
	tk_tune_rules_free(&rules);
	return status;
}

/* Which tuned backend, on each device and in each mode that several were tuned in. */
static int add_places(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	struct tk_value *list = tk_value_add_list(page, "places");
	const struct tk_model *m = &site->model;
	int status = 0;
	for (size_t i = 0; !status && i < m->tuning_count; i++) {
		const struct tk_site_tuning *t = &m->tunings[i];
		size_t group = (size_t)(t->group - m->tuning_groups->at);
		struct tk_tune_rules rules;
		bool is_first = !i || m->tunings[i - 1].group != t->group;
		if (!is_first || !tk_tuning_groups_is_first_at_place(m->tuning_groups, group))
			continue;
		status = tk_tuning_groups_find_backend_rules(
		        m->tuning_groups, t->group, &m->problems_by_id, &rules, err);
		if (rules.count) {
			struct tk_value *o = tk_value_append(list);
			tk_value_set_clip(o, "device", t->device->name, 80);
			tk_value_set_clip(o, "mode", t->row->mode, 40);
			add_rules(tk_value_add_list(o, "rules"), &rules);
		}
		tk_tune_rules_free(&rules);
	}
	return status;
}

static int write_index(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *page =
	        tk_page_begin(site, "tunings/index.html", "Tuning", TK_SECTION_KERNELS);
	struct tk_value *groups = tk_value_add_list(page, "groups");
	int status = add_places(site, page, err);
	for (size_t first = 0, end; !status && first < m->tuning_count; first = end) {
		for (end = first + 1;
		        end < m->tuning_count && m->tunings[end].group == m->tunings[first].group;
		        end++)
			;
		status = add_group(site, groups, &m->tunings[first], end - first, err);
	}
	return status ? status : tk_page_finish(site, "tunings", "tunings/index.html", err);
}

int tk_page_write_tunings(struct tk_site *site, struct tk_error *err)
{
	int status = 0;
	for (size_t i = 0; !status && i < site->model.tuning_count; i++)
		status = tk_page_write_tuning(site, &site->model.tunings[i], err);
	return status || !site->model.tuning_count ? status : write_index(site, err);
}
