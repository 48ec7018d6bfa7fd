/* `tracker worker`: the process that loads backends, so that a crash of a backend is not one of the
 * tracker. Started by the tracker, not by people. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "worker/worker.h"

enum { OPT_IN = 256, OPT_OUT };

static const struct argp_option options[] = {
        {"in-fd", OPT_IN, "N", 0, "descriptor that requests come from (default 0)"},
        {"out-fd", OPT_OUT, "N", 0, "descriptor that answers go to (default 1)"},
        {0},
};

struct descriptors {
	int in, out;
};

static int descriptor(const char *text, const char *option, struct argp_state *state)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (!*text || *end || v < 0 || v > 1 << 20 || fcntl((int)v, F_GETFD) < 0)
		argp_error(state, "--%s=%s: not an open descriptor", option, text);
	return (int)v;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct descriptors *d = state->input;

	switch (key) {
	case OPT_IN:
		d->in = descriptor(arg, "in-fd", state);
		return 0;
	case OPT_OUT:
		d->out = descriptor(arg, "out-fd", state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_worker = {options, parse_option, NULL,
        "Serve a parent tracker: JSON lines in, JSON lines out "
        "(docs/reference/worker-protocol.md). Started "
        "by the tracker "
        "itself."};

int tk_cmd_worker(const struct tk_globals *g, int argc, char **argv)
{
	struct descriptors d = {0, 1};

	tk_command_parse(&tk_argp_worker, argc, argv, &d);
	return tk_worker_serve(d.in, d.out);
}
