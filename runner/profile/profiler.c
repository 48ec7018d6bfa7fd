/* See profiler.h. */
#include "profile/profiler.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/process.h"

#include <string.h>
#include <unistd.h>

int tk_profiler_find(const struct tk_profiler *p, char **path, struct tk_error *err)
{
	if (tk_process_find_program(p->name, path))
		return TK_OK;
	if (access(p->installed, X_OK) == 0 && (*path = tk_strdup(p->installed)))
		return TK_OK;
	return tk_fail(err, TK_ENOTFOUND, "no %s (%s) in PATH, nor at %s; it comes with %s",
	        p->name, p->product, p->installed, p->toolkit);
}
