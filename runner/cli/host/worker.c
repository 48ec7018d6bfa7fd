/* `tracker worker`: the process that loads backends, so that a crash of a backend is not one of the
 * tracker. Started by the tracker, not by people. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "worker/worker.h"

static struct {
	int in, out;
} descriptors = {0, 1};

static int parse_descriptor(const char *text, void *to, struct tk_error *err)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (!*text || *end || v < 0 || v > 1 << 20 || fcntl((int)v, F_GETFD) < 0)
		return tk_fail(err, TK_EUSAGE, "expected an open descriptor");
	*(int *)to = (int)v;
	return TK_OK;
}

static const struct tk_option options[] = {
        {TK_OPT_PARSED("in-fd", 0, "N", parse_descriptor, &descriptors.in,
                "descriptor that requests come from (default 0)")},
        {TK_OPT_PARSED("out-fd", 0, "N", parse_descriptor, &descriptors.out,
                "descriptor that answers go to (default 1)")},
        {0},
};

static int run_worker(struct tk_globals *g, struct tk_error *err)
{
	return tk_worker_serve(descriptors.in, descriptors.out);
}

const struct tk_command tk_command_worker = {.name = "worker",
        .summary = "serve a parent tracker (internal)",
        .usage = {.options = options,
                .help = "Serve a parent tracker: JSON lines in, JSON lines out "
                        "(docs/reference/worker-protocol.md). Started by the tracker itself."},
        .run = run_worker,
        .hidden = true};
