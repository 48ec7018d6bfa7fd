/* How many measurements the search of a space needs on one that was measured as a whole:
 *
 *   space_search FILE.csv [SEEDS]
 *
 * The file has a line of names, then one per configuration: its values and its time last. Prints
 * the mean and the median number of measurements until one is within 2 % of the fastest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "detect/rules/space_search.h"

#define COUNT_MAX 4096
#define DIMENSIONS_MAX 16

static int64_t values[COUNT_MAX * DIMENSIONS_MAX];
static double times[COUNT_MAX];

/* Returns the number of configurations; 0: the file cannot be used. */
static size_t read_space(FILE *file, size_t *dimensions)
{
	char line[1024];
	size_t count = 0;
	*dimensions = 0;
	if (!fgets(line, sizeof line, file))
		return 0;
	for (const char *at = line; *at; at++)
		*dimensions += *at == ',';
	if (!*dimensions || *dimensions > DIMENSIONS_MAX)
		return 0;
	while (count < COUNT_MAX && fgets(line, sizeof line, file)) {
		char *at = line;
		for (size_t d = 0; d < *dimensions; d++) {
			values[count * *dimensions + d] = strtoll(at, &at, 10);
			at += *at == ',';
		}
		times[count++] = strtod(at, NULL);
	}
	return count;
}

/* Measurements until one is within 2 % of the least; 0: the search ended before. */
static size_t search(size_t count, size_t dimensions, double least, uint64_t seed, size_t *runs)
{
	struct tk_space_search s;
	size_t index, found = 0;
	*runs = 0;
	if (tk_space_search_open(&s, values, count, dimensions, seed))
		exit(4);
	while (tk_space_search_next(&s, &index)) {
		++*runs;
		tk_space_search_put(&s, index, times[index]);
		if (!found && times[index] < 1.02 * least)
			found = *runs;
	}
	tk_space_search_close(&s);
	return found;
}

static int ascending(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
	size_t dimensions, count = file ? read_space(file, &dimensions) : 0,
	                   seeds = argc > 2 ? strtoul(argv[2], NULL, 10) : 100, missed = 0;
	double least = INFINITY, sum = 0, all = 0;
	if (!count || !seeds) {
		fprintf(stderr, "usage: space_search FILE.csv [SEEDS]\n");
		return 2;
	}
	fclose(file);
	size_t *needed = calloc(seeds, sizeof *needed);
	for (size_t i = 0; i < count; i++)
		least = fmin(least, times[i]);
	for (size_t i = 0; needed && i < seeds; i++) {
		size_t runs, found = search(count, dimensions, least, i, &runs);
		missed += !found;
		needed[i] = found ? found : runs;
		sum += (double)needed[i];
		all += (double)runs;
	}
	if (needed)
		qsort(needed, seeds, sizeof *needed, ascending);
	printf("%zu configurations, %zu searches: within 2 %% after %.1f measurements in the mean, "
	       "%zu in the median; %zu searches ended before; %.1f measurements in all\n",
	        count, seeds, sum / (double)seeds, needed ? needed[seeds / 2] : 0, missed,
	        all / (double)seeds);
	free(needed);
	return 0;
}
