/* Any bytes as a suite, YAML or (where it begins with a brace) JSON: problems in their canonical
 * form, or a sentence that says where it is wrong. */
#include <stdlib.h>
#include <string.h>

#include "config/suite_internal.h"
#include "core/problem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *name = size && data[0] == '{' ? "f.json" : "f.yml";
	struct tk_suite *s = NULL;
	struct tk_problem_spec p;
	struct tk_error err = {0};
	struct tk_buf text = TK_BUF_INIT;

	tk_buf_add(&text, data, size);
	if (tk_suite_load_text(name, name, &text, &s, &err)) {
		if (strncmp(err.message, name, strlen(name)) != 0 || err.status != TK_ECONFIG)
			abort();
	} else if (!s->count || tk_problem_parse(&p, s->problems[s->count - 1].text, &err) ||
	           strcmp(p.text, s->problems[s->count - 1].text) != 0)
		abort();
	tk_suite_free(s);
	tk_buf_free(&text);
	return 0;
}
