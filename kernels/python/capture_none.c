/* capture.h where calls run on the host. */
#include "capture.h"

int capture_replay(struct capture *c, void *stream, struct tk_abi_error *err)
{
	return TK_ABI_INTERNAL; /* there is nothing to replay */
}

void capture_free(struct capture *c)
{
}
