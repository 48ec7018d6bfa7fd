/* usage: fork_bomb COUNT SECONDS spin|wait
 * A fork bomb that ends by itself. Every process starts others until there are COUNT, each in a
 * session of its own, and ends after at most SECONDS. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const int count = atoi(argv[1]), seconds = atoi(argv[2]);
	const int spins = strcmp(argv[3], "spin") == 0;
	atomic_int *started = mmap(
	        NULL, sizeof *started, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const time_t end = time(NULL) + seconds;

	if (started == MAP_FAILED)
		return 2;
	alarm((unsigned)seconds);
	while (atomic_fetch_add(started, 1) < count)
		if (fork() == 0) {
			setsid();
			alarm((unsigned)seconds);
		}
	while (time(NULL) < end)
		if (!spins)
			sleep(1);
	return 0;
}
