/* See suites.h. */
#include "nightly/plan/suites.h"
#include "base/base.h"
#include "config/config.h"
#include "config/suite.h"
#include "core/problem.h"
#include "nightly/night.h"

/* ---- problems ---- */

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

/* ---- texts ---- */

int tk_texts_find(struct tk_text_entry **list, const char *root, const char *problem,
        const struct tk_job_text **out, struct tk_error *err)
{
	struct tk_problem_spec p;
	struct tk_text_entry *e = *list;
	*out = NULL;
	if (!strstr(problem, "text:")) /* most problems: parsing takes longer */
		return TK_OK;
	TRY(tk_problem_parse(&p, problem, err));
	if (p.dist != TK_DIST_TEXT)
		return TK_OK;
	while (e && strcmp(e->text.name, p.dist_text) != 0)
		e = e->next;
	if (!e) {
		struct tk_text text = {0};
		TRY(tk_text_load(root, p.dist_text, &text, err));
		e = tk_malloc(sizeof *e);
		*e = (struct tk_text_entry){*list, text, {e->text.name, text.tokens, text.count}};
		*list = e;
	}
	*out = &e->job;
	return TK_OK;
}

void tk_texts_free(struct tk_text_entry *list)
{
	while (list) {
		struct tk_text_entry *next = list->next;
		tk_text_free(&list->text);
		free(list);
		list = next;
	}
}

/* ---- sequences ---- */

int tk_sequence_load(struct tk_sequence_entry **list, const char *root,
        const struct tk_modules *modules, const char *device_kind, const char *name,
        const struct tk_sequence_entry **out, struct tk_error *err)
{
	struct tk_sequence_entry *e = *list;
	struct tk_suite_sequence suite;
	while (e && (strcmp(e->suite.suite->name, name) != 0 ||
	                    strcmp(e->device_kind, device_kind) != 0))
		e = e->next;
	if (!e) {
		TRY(tk_suite_load_sequence(root, name, &suite, err));
		e = tk_malloc(sizeof *e);
		*e = (struct tk_sequence_entry){.next = *list,
		        .suite = suite,
		        .job = {.kernels = suite.kernels, .count = suite.count}};
		snprintf(e->device_kind, sizeof e->device_kind, "%s", device_kind);
		e->job.backend_count = tk_modules_list_company(modules, device_kind,
		        e->job.backends, sizeof e->job.backends / sizeof *e->job.backends);
		*list = e;
	}
	*out = e;
	return TK_OK;
}

void tk_sequence_free_list(struct tk_sequence_entry *list)
{
	while (list) {
		struct tk_sequence_entry *next = list->next;
		tk_suite_free_sequence(&list->suite);
		free(list);
		list = next;
	}
}

int tk_night_name_mode(struct tk_night *n, const char *device_kind, const char *mode,
        char out[TK_MODE_WORD_SIZE], struct tk_error *err)
{
	const struct tk_sequence_entry *e = NULL;
	char name[TK_MODE_WORD_SIZE];
	int status = TK_OK;
	if (tk_mode_get_sequence(mode, name))
		status = tk_sequence_load(
		        &n->sequences, n->config->root, n->modules, device_kind, name, &e, err);
	if (status == TK_ENOTFOUND && err) {
		tk_error_add_context(err, "measure.modes: %s", mode);
		err->status = status = TK_ECONFIG;
	}
	if (!status)
		snprintf(out, TK_MODE_WORD_SIZE, "%s", e ? e->suite.mode : mode);
	return status;
}

const struct tk_job_sequence *tk_night_find_sequence(
        struct tk_night *n, int64_t device_id, const char *mode)
{
	const struct tk_sequence_entry *e = NULL;
	char name[TK_MODE_WORD_SIZE];
	const struct tk_night_device *d = tk_night_find_device(n, device_id);
	if (!d || !tk_mode_get_sequence(mode, name) ||
	        tk_sequence_load(
	                &n->sequences, n->config->root, n->modules, d->layer->name, name, &e, NULL))
		return NULL;
	return strcmp(e->suite.mode, mode) == 0 ? &e->job : NULL;
}
