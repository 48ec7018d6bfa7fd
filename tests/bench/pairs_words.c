/* What the rule of confirmation says of pairs whose both sides are the same: for bench_flat.
 *
 * usage: pairs_words MIN_EFFECT <lines of "NAME VALUE..."
 * The values of a line are timings of processes in the order of time, two of them a pair; which of
 * the two is the old build is drawn in blocks of two pairs, as a night draws it. Answers "NAME WORD
 * PAIRS" with the word of the first look that decides; "seen" is what is open at the end and still
 * leans to a change. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "decide/decide.h"
#include "decide/rules/ab_result.h"
#include "store/store.h"

#define PAIRS_MAX 256

static const char *word_of(const struct tk_ab_result *p)
{
	return p->decision == TK_AB_INCONCLUSIVE && !(p->lo < 0 && p->hi > 0)
	               ? "seen"
	               : tk_ab_decision_name(p->decision);
}

static size_t read_pairs(char *text, struct tk_rng *rng, struct tk_ab_pair_row *rows)
{
	size_t count = 0;
	bool good_first = false;
	char *end;

	for (; count < PAIRS_MAX; count++) {
		double first = strtod(text, &end), second;

		if (end == text)
			break;
		second = strtod(end, &text);
		if (text == end)
			break;
		good_first = count % 2 ? !good_first : tk_rng_uniform(rng) < 0.5;
		rows[count] = (struct tk_ab_pair_row){.pair = (int64_t)count,
		        .base_median = good_first ? first : second,
		        .head_median = good_first ? second : first,
		        .base_min = NAN,
		        .head_min = NAN};
	}
	return count;
}

static int answer(char *line, const struct tk_detect_options *options, struct tk_rng *rng)
{
	struct tk_ab_pair_row rows[PAIRS_MAX];
	struct tk_ab_result pairs = {.decision = TK_AB_NONE};
	char *values = strchr(line, ' ');
	size_t count, n = 0;

	if (!values)
		return 1;
	*values++ = '\0';
	count = read_pairs(values, rng, rows);
	while (n < count && (pairs.decision == TK_AB_NONE || pairs.decision == TK_AB_INCONCLUSIVE))
		pairs = tk_ab_result_evaluate(rows, ++n, options);
	printf("%s %s %zu\n", line, word_of(&pairs), n);
	return 0;
}

int main(int argc, char **argv)
{
	struct tk_detect_options options = {.min_effect = argc == 2 ? strtod(argv[1], NULL) : 0};
	struct tk_rng rng;
	char *line = NULL;
	size_t cap = 0;
	int failed = 0;

	if (!(options.min_effect > 0)) {
		fputs("usage: pairs_words MIN_EFFECT <lines of \"NAME VALUE...\"\n", stderr);
		return 2;
	}
	tk_rng_seed(&rng, 1);
	while (!failed && getline(&line, &cap, stdin) > 0)
		failed = answer(line, &options, &rng);
	free(line);
	return failed;
}
