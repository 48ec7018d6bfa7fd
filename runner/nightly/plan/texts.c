/* See texts.h. */
#include "nightly/plan/texts.h"
#include "base/error.h"
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

static int load(struct tk_text_entry **list, const char *root, const char *name,
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
	return load(list, root, p.dist_text, out, err);
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
