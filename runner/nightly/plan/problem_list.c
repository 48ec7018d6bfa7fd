/* See problem_list.h. */
#include "nightly/plan/problem_list.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "config/config.h"
#include "core/problem.h"
#include "config/suite.h"
#include <stdlib.h>
#include <string.h>

static void replace_text(char **text, const char *with)
{
	free(*text);
	*text = tk_strdup(with ? with : "");
}

static void add(struct tk_problem_list *list, const struct tk_suite_problem *p, uint32_t kinds,
        uint32_t rotate_nights)
{
	struct tk_listed_problem *row = NULL;
	for (size_t i = 0; i < list->count && !row; i++)
		if (strcmp(list->rows[i].text, p->text) == 0)
			row = &list->rows[i];
	if (!row) {
		list->rows = tk_reallocarray(list->rows, list->count + 1, sizeof *list->rows);
		row = &list->rows[list->count++];
		*row = (struct tk_listed_problem){
		        .text = tk_strdup(p->text), .rotate_nights = rotate_nights};
	}
	row->kinds |= kinds;
	if (rotate_nights < row->rotate_nights)
		row->rotate_nights = rotate_nights;
	replace_text(&row->source, p->source);
	replace_text(&row->group, p->group);
}

int tk_problem_list_add(struct tk_problem_list *list, const char *text, struct tk_error *err)
{
	struct tk_problem_spec p;
	TRY(tk_problem_parse(&p, text, err));
	add(list, &(struct tk_suite_problem){.text = p.text}, UINT32_MAX, 0);
	return TK_OK;
}

int tk_problem_list_add_suite(struct tk_problem_list *list, const struct tk_config *config,
        const char *entry, struct tk_error *err)
{
	enum tk_device_kind kind;
	const char *name = tk_config_suite_name(entry, &kind);
	struct tk_suite *suite = NULL;
	TRY(tk_suite_load(config->root, name, &suite, err));
	for (size_t i = 0; i < suite->count; i++)
		add(list, &suite->problems[i],
		        kind == TK_DEVICE_OTHER ? UINT32_MAX : UINT32_C(1) << kind,
		        tk_config_rotate_nights(config, name, suite->rotate_nights));
	tk_suite_free(suite);
	return TK_OK;
}

int tk_problem_list_add_configured(
        struct tk_problem_list *list, const struct tk_config *config, struct tk_error *err)
{
	for (char *const *name = config->suites; name && *name; name++)
		TRY(tk_problem_list_add_suite(list, config, *name, err));
	return TK_OK;
}

void tk_problem_list_free(struct tk_problem_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->rows[i].text);
		free(list->rows[i].source);
		free(list->rows[i].group);
	}
	free(list->rows);
	*list = (struct tk_problem_list){0};
}
