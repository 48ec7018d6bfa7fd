/* Any bytes as a problem: an error with a sentence, or a canonical text that reads back as itself.
 */
#include <stdlib.h>
#include <string.h>

#include "core/problem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tk_problem_spec p, again;
	struct tk_error err = {0};
	char *text = malloc(size + 1), title[160];

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (tk_problem_parse(&p, text, &err)) {
		if (!err.message[0] || err.status != TK_EDATA)
			abort();
	} else {
		tk_problem_format_title(&p, title, sizeof title);
		if (tk_problem_parse(&again, p.text, &err) || strcmp(again.text, p.text) != 0)
			abort();
		if (!(tk_problem_flops(&p) >= 0) || !(tk_problem_bytes(&p) > 0))
			abort();
	}
	free(text);
	return 0;
}
