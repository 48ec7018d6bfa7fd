/* The problems that an adapter compiles kernels for: those of the configured suites, as far as its
 * file `problems` names their operations. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "config/config.h"
#include "nightly/stages/recipe.h"
#include "suite/suite.h"
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)64 << 10)

struct problem_names {
	char **list; /* NULL-terminated */
	size_t count;
	const char *operations; /* one a line */
};

/* Whether "gemm" of "gemm:..." is one of the lines. */
static bool is_wanted(const struct problem_names *p, const char *problem)
{
	const size_t len = strcspn(problem, ":");
	for (const char *line = p->operations; *line;) {
		const size_t n = strcspn(line, "\n");
		if (n == len && !strncmp(line, problem, n))
			return true;
		line += n + (line[n] == '\n');
	}
	return false;
}

static int add(struct problem_names *p, const char *problem, struct tk_error *err)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->list[i], problem))
			return TK_OK;
	char **grown = tk_realloc(p->list, (p->count + 2) * sizeof *grown);
	if (grown)
		p->list = grown;
	if (!grown || !(grown[p->count] = tk_strdup(problem)))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	grown[++p->count] = NULL;
	return TK_OK;
}

static int add_suite(struct problem_names *p, const struct tk_config *config, const char *name,
        struct tk_error *err)
{
	struct tk_suite *suite = NULL;
	enum tk_device_kind kind;
	int status = tk_suite_load(config->root, tk_config_suite_name(name, &kind), &suite, err);
	for (size_t i = 0; !status && i < suite->count; i++)
		if (is_wanted(p, suite->problems[i].text))
			status = add(p, suite->problems[i].text, err);
	if (suite)
		tk_suite_free(suite);
	return status;
}

int tk_recipe_list_problems(
        const struct tk_config *config, const char *adapter_dir, char ***out, struct tk_error *err)
{
	struct tk_buf text = TK_BUF_INIT;
	char *path = tk_path_join(adapter_dir, "problems");
	int status = path ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
	*out = NULL;
	if (!status && tk_file_exists(path)) {
		struct problem_names p = {.list = tk_calloc(1, sizeof *p.list)};
		status = p.list ? tk_file_read(path, FILE_MAX, &text, err)
		                : tk_fail(err, TK_ENOMEM, "out of memory");
		p.operations = tk_buf_cstr(&text);
		for (char *const *name = config->suites; !status && name && *name; name++)
			status = add_suite(&p, config, *name, err);
		if (status)
			tk_recipe_free_problems(p.list);
		else
			*out = p.list;
	}
	tk_buf_free(&text);
	free(path);
	return status;
}

void tk_recipe_free_problems(char **problems)
{
	for (char **p = problems; p && *p; p++)
		free(*p);
	free(problems);
}
