/* Makes histories for the tests of the site, through store.h:
 *
 *   site_seed DB tiny    three nights with verdicts written by hand: the golden site
 *   site_seed DB demo    a hundred nights of three machines with a regression, an improvement,
 *                        failures, a changed environment and hostile names (not with
 *                        --no-hostile): the browser tests
 *   site_seed DB fleet   a few nights of four devices of one model on three machines
 *
 * The same arguments make the same history. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "seed.h"

int main(int argc, char **argv)
{
	bool plain = argc == 4 && !strcmp(argv[3], "--no-hostile");
	if (argc != 3 && !plain) {
		fprintf(stderr, "usage: site_seed DB tiny|demo|fleet [--no-hostile]\n");
		return 2;
	}
	unlink(argv[1]);
	seed_check(tk_store_open(argv[1], TK_STORE_CREATE, &seed_db, &seed_err));
	if (strcmp(argv[2], "demo")) {
		seed_check(tk_store_begin(seed_db, &seed_err));
		strcmp(argv[2], "fleet") ? tiny() : fleet();
		seed_check(tk_store_commit(seed_db, &seed_err));
	} else {
		demo(!plain);
	}
	tk_store_close(seed_db);
	return 0;
}
