/* Foreign units. A unit is `WHAT` or `WHAT PER WHAT`: a table has the words with their dimension
 * and factor, prefixes and PER follow rules. The dimensions decide which direction is better, or
 * that nobody knows. */
#include "base/base.h"
#include "store/import/import.h"
#include <math.h>
#include <strings.h>

enum dimension {
	WORD, /* one that the table does not have: items, tokens, widgets */
	TIME,
	CYCLE,
	ENERGY,
	POWER,
	MONEY,
	BYTE,
	BIT,
	RESOURCE, /* costs where it stands alone or per piece of work, a rate per time */
	FAULT,    /* never wanted */
	CALL,     /* `/op` after a cost is left out */
	FLOP,
	RATE, /* per time by itself */
	BYTE_RATE,
	BIT_RATE,
	FLOP_RATE,
	GAIN
};

#define HOUR_S 3600

/* The first letters of prefixes. */
#define LARGE "kMGTPEK"
#define SMALL "munp"

static const struct {
	const char *words; /* one may have an s more */
	const char *prefixes;
	enum dimension dimension;
	double factor;
	bool needs_prefix, has_case;
} terms[] = {
        {"s|sec|second", SMALL, TIME, 1},
        {"min|minute", "", TIME, 60},
        {"hr|hour", "", TIME, 3600},
        {"day", "", TIME, 86400},
        {"h", "", TIME, 3600, .has_case = true},
        {"d", "", TIME, 86400, .has_case = true},
        {"cycle|cyc|clk|clock|tick", LARGE, CYCLE, 1},
        {"J|joule", SMALL LARGE, ENERGY, 1},
        {"Wh", SMALL LARGE, ENERGY, 3600},
        {"W|watt", SMALL LARGE, POWER, 1},
        {"$|USD|EUR|\xe2\x82\xac|cent", "", MONEY, 1},
        {"B|byte", LARGE, BYTE, 1},
        {"bit", LARGE, BIT, 1},
        {"b", "KMGTPE", BIT, 1, .needs_prefix = true},
        {"alloc|allocation|malloc|instruction|insn|instr|inst|register|reg", LARGE, RESOURCE, 1},
        {"error|failure|fault|miss|misses|spill|stall|conflict|switch|switches|mpki", LARGE, FAULT,
                1},
        {"ops|fps|qps|tps|rps|pps|eps|iops|ips|ups|lups|flups|cups|teps|sypd|hz", LARGE, RATE, 1},
        {"op|iter|iteration|call|it", LARGE, CALL, 1},
        {"FLOPS", LARGE, FLOP_RATE, 1},
        {"FLOP", LARGE, FLOP, 1},
        {"bps", LARGE, BIT_RATE, 1},
        {"Bps", LARGE, BYTE_RATE, 1},
        {"x|\xc3\x97|speedup|speed-up|ipc", "", GAIN, 1},
        {"cpi|cpb", "", CYCLE, 1},
};

static const struct {
	const char *words;
	double factor;
} prefixes[] = {{"p|pico", 1e-12}, {"n|nano", 1e-9}, {"u|\xc2\xb5|\xce\xbc|micro", 1e-6},
        {"m|milli", 1e-3}, {"k|K|kilo", 1e3}, {"M|mega", 1e6}, {"G|giga", 1e9}, {"T|tera", 1e12},
        {"P|peta", 1e15}, {"E|exa", 1e18}, {"Ki|kibi", 0x1p10}, {"Mi|mebi", 0x1p20},
        {"Gi|gibi", 0x1p30}, {"Ti|tebi", 0x1p40}, {"Pi|pebi", 0x1p50}};

/* The length of a word of the list: of all of the text, of which an s may be left, or of its
 * beginning. 0: none. */
static size_t match(const char *words, const char *text, size_t len, bool is_all, bool is_exact)
{
	for (const char *end; *words; words = end + (*end == '|')) {
		end = strchrnul(words, '|');

		const size_t n = (size_t)(end - words);
		const bool fits = n == len || (n > 1 && n + 1 == len && text[n] == 's');

		if (n <= len && (fits || !is_all) &&
		        !(is_exact ? strncmp : strncasecmp)(words, text, n))
			return n;
	}
	return 0;
}

static bool match_term(size_t term, const char *text, size_t len, bool is_exact, double *factor)
{
	*factor = terms[term].factor;
	if (!terms[term].needs_prefix && match(terms[term].words, text, len, true, is_exact))
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strchr(terms[term].prefixes, *prefixes[i].words)
		                   ? match(prefixes[i].words, text, len, false, is_exact)
		                   : 0;

		while (n && text[n] == ' ')
			n++;
		if (!n || !match(terms[term].words, text + n, len - n, true, is_exact))
			continue;
		*factor *= prefixes[i].factor;
		return true;
	}
	return false;
}

static struct tk_import_term parse_term(const char *text, size_t len);

/* "L1-dcache-load-misses", "peak MB", "speedup (x)": what is counted stands last. */
static struct tk_import_term parse_last_word(const char *text, size_t len)
{
	struct tk_import_term found = {WORD, 1};
	size_t at = len;

	while (at && !strchr(" -_", text[at - 1]))
		at--;
	if (at && at < len)
		found = parse_term(text + at, len - at);
	if (found.dimension == FAULT || (found.dimension != WORD && at && text[at - 1] == ' '))
		return found;
	return (struct tk_import_term){WORD, 1};
}

static struct tk_import_term parse_term(const char *text, size_t len)
{
	struct tk_import_term found = {WORD, 1};

	while (len && strchr(" ([", *text))
		text++, len--;
	while (len && strchr(" )]", text[len - 1]))
		len--;
	for (int is_exact = 1; is_exact >= 0; is_exact--)
		for (size_t i = 0; len && i < sizeof(terms) / sizeof(terms[0]); i++)
			if ((is_exact || !terms[i].has_case) &&
			        match_term(i, text, len, is_exact, &found.factor)) {
				found.dimension = terms[i].dimension;
				return found;
			}
	return parse_last_word(text, len);
}

/* What stands between `text` and PER, and after it. False: there is no PER. */
static bool split(const char *text, size_t *before, const char **after)
{
	static const char *const pers[] = {"/", " per ", "_per_", "-per-"};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(pers) / sizeof(pers[0]); i++) {
		const char *at = strcasestr(text, pers[i]);

		if (!at || (first && at > first))
			continue;
		first = at;
		*before = (size_t)(at - text);
		*after = at + strlen(pers[i]);
	}
	return first != NULL;
}

static bool is_paid(int dimension)
{
	return dimension >= TIME && dimension <= MONEY;
}

static enum tk_better direction_alone(int what)
{
	return what == WORD || what == CALL || what == FLOP ? TK_BETTER_UNKNOWN
	       : what >= RATE                               ? TK_BETTER_HIGHER
	                                                    : TK_BETTER_LOWER;
}

/* Costs per piece of work are better when lower, work per cost when higher. */
static enum tk_better direction_per(struct tk_import_term what, struct tk_import_term per)
{
	if (what.dimension == FAULT)
		return TK_BETTER_LOWER;
	if (what.dimension >= RATE)
		return TK_BETTER_HIGHER;
	if (what.dimension == TIME && per.dimension == TIME) /* simulated ns/day, h/ns; ms/s */
		return per.factor >= HOUR_S    ? TK_BETTER_HIGHER
		       : what.factor >= HOUR_S ? TK_BETTER_LOWER
		                               : TK_BETTER_UNKNOWN;
	if (is_paid(what.dimension) && is_paid(per.dimension)) /* cycles/s; J/s, $/h */
		return what.dimension == CYCLE ? TK_BETTER_HIGHER : TK_BETTER_LOWER;
	if (is_paid(per.dimension))
		return TK_BETTER_HIGHER;
	if (is_paid(what.dimension))
		return TK_BETTER_LOWER;
	return direction_alone(what.dimension) == TK_BETTER_LOWER &&
	                       (per.dimension == WORD || per.dimension == CALL)
	               ? TK_BETTER_LOWER
	               : TK_BETTER_UNKNOWN;
}

/* The tracker's own unit of a dimension, and the metric that it is of. */
static void convert(struct tk_import_unit *u)
{
	static const struct {
		enum dimension dimension;
		const char *metric, *unit;
		double factor;
	} own[] = {{TIME, "time", "ns", 1e9}, {BYTE, "memory", "bytes", 1},
	        {ENERGY, "energy", "J", 1}, {BYTE_RATE, "bandwidth", "gb_per_s", 1e-9},
	        {FLOP_RATE, "flops", "gflop_per_s", 1e-9}};

	u->metric = u->better == TK_BETTER_HIGHER ? "throughput" : "value";
	u->factor = 1;
	for (size_t i = 0; !u->has_per && i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i].dimension == (enum dimension)u->what.dimension) {
			u->metric = own[i].metric;
			u->unit = own[i].unit;
			u->factor = own[i].factor * u->what.factor;
			if (fabs(u->factor - round(u->factor)) < 1e-9 * u->factor)
				u->factor = round(u->factor);
		}
}

/* WHAT/s is a rate by itself, a cost per call is the cost. */
static void simplify(struct tk_import_unit *u)
{
	static const enum dimension rates[GAIN + 1] = {
	        [BYTE] = BYTE_RATE, [BIT] = BIT_RATE, [FLOP] = FLOP_RATE, [FLOP_RATE] = FLOP_RATE};
	const enum dimension what = (enum dimension)u->what.dimension;

	if (u->per.dimension == TIME && rates[what]) {
		u->what = (struct tk_import_term){rates[what], u->what.factor / u->per.factor};
		u->has_per = false;
	}
	if (u->per.dimension == CALL && (what == TIME || what == BYTE || what == ENERGY))
		u->has_per = false;
}

struct tk_import_unit tk_import_unit(const char *text)
{
	struct tk_import_unit u = {.unit = text};
	size_t len = strlen(text), per_len = 0;
	const char *per = NULL, *rest;

	u.has_per = split(text, &len, &per);
	u.what = parse_term(text, len);
	if (u.has_per) {
		if (!split(per, &per_len, &rest))
			per_len = strlen(per);
		u.per = parse_term(per, per_len);
	} else if (u.what.dimension == FLOP && text[len - 1] == 's') {
		u.what.dimension = FLOP_RATE;
	}
	u.better = u.has_per ? direction_per(u.what, u.per) : direction_alone(u.what.dimension);
	simplify(&u);
	convert(&u);
	return u;
}

bool tk_import_unit_ratio(const char *from, const char *to, double *ratio)
{
	const struct tk_import_unit a = tk_import_unit(from), b = tk_import_unit(to);

	if (a.what.dimension == WORD || a.what.dimension != b.what.dimension ||
	        a.has_per != b.has_per ||
	        (a.has_per && (a.per.dimension == WORD || a.per.dimension != b.per.dimension)))
		return false;
	*ratio = a.what.factor / b.what.factor;
	if (a.has_per)
		*ratio *= b.per.factor / a.per.factor;
	return true;
}

/* A word that nobody takes for part of a name. Sizes often are one: "copy_64_bytes". */
static bool is_plain(const char *text, bool is_whole)
{
	const struct tk_import_unit u = tk_import_unit(text);
	const int what = u.what.dimension;

	if (strlen(text) < 2 || !strncasecmp(text, "min", 3))
		return false;
	return u.has_per ? u.per.dimension == TIME || (is_whole && u.better != TK_BETTER_UNKNOWN)
	                 : what == TIME || (what >= BYTE_RATE && what <= FLOP_RATE) ||
	                           (is_whole && (what == BYTE || what == ENERGY));
}

const char *tk_import_unit_in(const char *heading)
{
	for (const char *at = heading; *at; at++)
		if ((at == heading || strchr("_ ([-", at[-1])) &&
		        is_plain(at, at == heading || strchr("([", at[-1])))
			return at;
	return NULL;
}
