/* See job_inputs.h. */
#include "nightly/plan/job_inputs.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "nightly/night.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

static int load_text(struct tk_text_entry **list, const char *root, const char *name,
        const struct tk_job_text **out, struct tk_error *err)
{
	struct tk_text_entry *e = tk_calloc(1, sizeof *e);
	int status = tk_text_load(root, name, &e->text, err);
	if (status) {
		free(e);
		return status;
	}
	e->job = (struct tk_job_text){e->text.name, e->text.tokens, e->text.count};
	e->next = *list;
	*list = e;
	*out = &e->job;
	return TK_OK;
}

int tk_texts_find(struct tk_text_entry **list, const char *root, const char *problem,
        const struct tk_job_text **out, struct tk_error *err)
{
	struct tk_problem_spec p;
	*out = NULL;
	if (!strstr(problem, "text:")) /* most problems: parsing takes longer */
		return TK_OK;
	int status = tk_problem_parse(&p, problem, err);
	if (status || p.dist != TK_DIST_TEXT)
		return status;
	for (struct tk_text_entry *e = *list; e; e = e->next)
		if (strcmp(e->text.name, p.dist_text) == 0) {
			*out = &e->job;
			return TK_OK;
		}
	return load_text(list, root, p.dist_text, out, err);
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

static int load_sequence(struct tk_sequence_entry *e, const char *root,
        const struct tk_modules *modules, const char *name, struct tk_error *err)
{
	struct tk_job_sequence *job = &e->job;
	TRY(tk_suite_load_sequence(root, name, &e->suite, err));
	*job = (struct tk_job_sequence){.kernels = e->suite.kernels, .count = e->suite.count};
	job->backend_count = tk_modules_list_company(modules, e->device_kind, job->backends,
	        sizeof job->backends / sizeof *job->backends);
	return TK_OK;
}

int tk_sequence_load(struct tk_sequence_entry **list, const char *root,
        const struct tk_modules *modules, const char *device_kind, const char *name,
        const struct tk_sequence_entry **out, struct tk_error *err)
{
	for (struct tk_sequence_entry *e = *list; e; e = e->next)
		if (strcmp(e->suite.suite->name, name) == 0 &&
		        strcmp(e->device_kind, device_kind) == 0) {
			*out = e;
			return TK_OK;
		}
	struct tk_sequence_entry *e = tk_calloc(1, sizeof *e);
	snprintf(e->device_kind, sizeof e->device_kind, "%s", device_kind);
	int status = load_sequence(e, root, modules, name, err);
	if (status) {
		free(e);
		return status;
	}
	e->next = *list;
	*out = *list = e;
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
