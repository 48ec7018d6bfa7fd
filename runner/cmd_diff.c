/* `tracker diff` */
#include "commands.h"

const struct argp tk_argp_diff = {0};

int tk_cmd_diff(const struct tk_globals *g, int argc, char **argv)
{
	(void)g, (void)argc, (void)argv;
	return TK_EXIT_FAILED;
}
