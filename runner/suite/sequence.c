/* See sequence.h. */
#include "suite/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static int list_kernels(struct tk_suite_sequence *s, struct tk_error *err)
{
	const struct tk_suite *suite = s->suite;

	if (!suite->is_sequence)
		return tk_fail(err, TK_ECONFIG,
		        "%s:1:1: this suite is no sequence; expected \"sequence: yes\" and the "
		        "kernels "
		        "of a layer in the order of their launches",
		        suite->path);
	s->kernels = tk_calloc(suite->launch_count + 1, sizeof *s->kernels);
	for (size_t i = 0; i < suite->launch_count; i++)
		s->kernels[i] = suite->problems[suite->launches[i]].text;
	s->count = suite->launch_count;
	return TK_OK;
}

int tk_suite_load_sequence(
        const char *root, const char *name, struct tk_suite_sequence *out, struct tk_error *err)
{
	struct tk_suite_sequence s = {.count = 0};
	int status = tk_suite_load(root, name, &s.suite, err);

	if (!status)
		status = list_kernels(&s, err);
	if (!status)
		status = tk_mode_format_sequence(s.suite->name, s.suite->hash, s.mode, err);
	if (status)
		tk_suite_free_sequence(&s);
	else
		*out = s;
	return status;
}

void tk_suite_free_sequence(struct tk_suite_sequence *s)
{
	free(s->kernels);
	tk_suite_free(s->suite);
	*s = (struct tk_suite_sequence){.count = 0};
}
