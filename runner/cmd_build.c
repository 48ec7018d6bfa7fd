/* `tracker build` */
#include "commands.h"

const struct argp tk_argp_build = {0};

int tk_cmd_build(const struct tk_globals *g, int argc, char **argv)
{
	(void)g, (void)argc, (void)argv;
	return TK_EXIT_FAILED;
}
