/* Foreign strings on their way into the history: the one place that replaces what is not UTF-8. */
#include "base/buf.h"
#include "base/text.h"
#include "store/db/internal.h"
#include <stdint.h>
#include <string.h>

char *tk_text_repair_utf8(const char *text, bool *failed)
{
	struct tk_buf copy = TK_BUF_INIT;

	*failed = false;
	if (tk_utf8_is_valid(text))
		return NULL;
	tk_buf_add_utf8(&copy, text, strlen(text));
	char *repaired = tk_buf_detach(&copy, NULL);

	*failed = !repaired;
	return repaired;
}
