/* What the first lines of a format's file say of it ("-- key: value"), and which format a file has.
 *
 *   what      one line for people
 *   reads     json (default), csv, log (lines among which there are tables of CSV), text; "a|b"
 *   detect    words that the start of a file has, those after "!" it has not; a line each way
 *   heading   patterns ("m|n|time*") of which one is a heading; of csv and log, each line one
 *   beside    patterns of files that are beside the results and have none
 *   identity, columns, attributes   lists of headings (columns.c)
 *
 * A file is of the format with the most words or headings in it. */
#include "base/base.h"
#include "store/import/import.h"
#include <fnmatch.h>

#define COLUMNS_MAX 4096

/* The others are the files in formats/. */
static const struct tk_import_format readers[] = {
        {"tracker",
                "-- what: what `tracker export --format=ndjson` writes\n"
                "-- detect: {\"format\": \"device\":\n",
                tk_import_read_tracker, NULL},
        {"asv",
                "-- what: airspeed velocity: results/MACHINE/*.json, or the folder\n"
                "-- detect: \"commit_hash\" \"results\"\n"
                "-- detect: \"commit_hash\" \"env_name\"\n"
                "-- beside: machine.json|benchmarks.json|asv.conf.json\n",
                tk_import_read_asv, NULL}};
#define READER_COUNT (sizeof(readers) / sizeof(readers[0]))

/* NULL after the last one. */
static const struct tk_import_format *get_format(size_t i)
{
	const struct tk_import_format *f =
	        i < READER_COUNT ? &readers[i] : &tk_import_formats[i - READER_COUNT];

	return f->name ? f : NULL;
}

char *tk_import_format_get(const struct tk_import_format *format, const char *key, size_t nth)
{
	const size_t len = strlen(key);

	for (const char *line = format->sql; !strncmp(line, "--", 2); line += *line == '\n') {
		const char *word = line + 2 + strspn(line + 2, " ");

		line += strcspn(line, "\n");
		if (strncmp(word, key, len) || word[len] != ':' || nth-- > 0)
			continue;
		word += len + 1 + strspn(word + len + 1, " ");
		return tk_strndup(word, (size_t)(line - word));
	}
	return NULL;
}

/* ---- detection ------------------------------------------------------------------------------- */

/* How many of the words the file has; 0: not all of them. */
static size_t count_words(const struct tk_import_file *f, const char *words)
{
	size_t count = 0;

	for (const char *end; *words; words = end + (*end == ' ')) {
		const bool is_wanted = *words != '!';

		words += !is_wanted;
		end = words + strcspn(words, " ");
		if (!memmem(f->head, f->head_len, words, (size_t)(end - words)) == is_wanted)
			return 0;
		count += is_wanted;
	}
	return count;
}

bool tk_import_heading_matches(const char *heading, const char *patterns)
{
	for (const char *end; *patterns; patterns = end + (*end == '|')) {
		end = strchrnul(patterns, '|');
		AUTO_TEXT pattern = tk_strndup(patterns, (size_t)(end - patterns));

		if (!fnmatch(pattern, heading, FNM_CASEFOLD))
			return true;
	}
	return false;
}

/* hipblaslt-bench writes "[0]:transA", others blanks before a heading. */
const char *tk_import_heading_name(const char *heading)
{
	const char *end = *heading == '[' ? strstr(heading, "]:") : NULL;

	heading = end ? end + 2 : heading;
	return heading + strspn(heading, " ");
}

/* Cuts a line of CSV into its headings. Returns how many. */
static size_t cut_headings(char *line, const char **headings)
{
	size_t count = 0;

	for (char *next = line; next && count < COLUMNS_MAX;) {
		const bool is_quoted = *next == '"';
		char *cell = next + is_quoted,
		     *end = cell + strcspn(cell, is_quoted ? "\"" : ",;\t");

		next = end + strcspn(end, ",;\t");
		next = *next ? next + 1 : NULL;
		*end = '\0';
		headings[count++] = tk_import_heading_name(cell);
	}
	return count;
}

size_t tk_import_format_match(
        const struct tk_import_format *format, const char *const *headings, size_t count)
{
	size_t matched = 0;
	char *patterns;

	for (size_t nth = 0; (patterns = tk_import_format_get(format, "heading", nth)); nth++) {
		size_t i = 0;

		while (i < count && !tk_import_heading_matches(headings[i], patterns))
			i++;
		matched += strcmp(patterns, "*") != 0;
		free(patterns);
		if (i == count)
			return 0;
	}
	return count > 1 ? matched : 0;
}

const char *tk_import_find_heading(
        const struct tk_import_format *format, const char *text, bool is_log, size_t *matched)
{
	const char **headings = tk_calloc(COLUMNS_MAX, sizeof(*headings)), *line = text;

	for (*matched = 0; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		AUTO_TEXT copy = tk_strndup(line, strcspn(line, "\r\n"));

		*matched = tk_import_format_match(format, headings, cut_headings(copy, headings));
		if (*matched || !is_log)
			break;
	}
	free(headings);
	return *matched ? line : NULL;
}

/* Of several ways the first that fits what the file begins with, else the last. */
enum tk_import_reads tk_import_format_reads(
        const struct tk_import_format *format, const struct tk_import_file *f)
{
	static const char *const words[] = {"json", "csv", "log", "text"};
	AUTO_TEXT reads = tk_import_format_get(format, "reads", 0);
	const bool is_json = strchr("{[", f->head[strspn(f->head, " \t\r\n")]) != NULL;
	enum tk_import_reads found = reads ? TK_IMPORT_UNKNOWN : TK_IMPORT_JSON;
	size_t matched;

	for (char *word = reads, *end; word; word = *end ? end + 1 : NULL) {
		end = word + strcspn(word, "|");
		found = TK_IMPORT_UNKNOWN;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i]) == (size_t)(end - word) &&
			        !strncmp(words[i], word, strlen(words[i])))
				found = (enum tk_import_reads)i;
		if (found == TK_IMPORT_JSON
		                ? is_json
		                : (found == TK_IMPORT_CSV || found == TK_IMPORT_LOG) && !is_json &&
		                          tk_import_find_heading(format, f->head,
		                                  found == TK_IMPORT_LOG, &matched))
			break;
	}
	return found;
}

static size_t count_matches(const struct tk_import_format *format, const struct tk_import_file *f)
{
	const enum tk_import_reads reads = tk_import_format_reads(format, f);
	const char *start = f->head + strspn(f->head, " \t\r\n");
	const bool is_markup = strchr("{[<", *start) != NULL;
	size_t best = 0, count;
	char *words;

	if (reads == TK_IMPORT_CSV || reads == TK_IMPORT_LOG) {
		if (!is_markup || (reads == TK_IMPORT_LOG && *start == '['))
			tk_import_find_heading(format, f->head, reads == TK_IMPORT_LOG, &best);
		return best;
	}
	if (reads == TK_IMPORT_TEXT && is_markup && *f->head != '<')
		return 0;
	for (size_t nth = 0; (words = tk_import_format_get(format, "detect", nth)); nth++) {
		count = count_words(f, words);
		best = count > best ? count : best;
		free(words);
	}
	return best;
}

bool tk_import_format_skips(const struct tk_import_format *format, const char *path)
{
	AUTO_TEXT list = tk_import_format_get(format, "beside", 0);
	const char *slash = strrchr(path, '/');

	return list && (tk_import_heading_matches(path, list) ||
	                       tk_import_heading_matches(slash ? slash + 1 : path, list));
}

const struct tk_import_format *tk_import_format_guess(const struct tk_import_file *f)
{
	const struct tk_import_format *best = NULL, *format;
	size_t most = 0, count;

	for (size_t i = 0; (format = get_format(i)) && best != readers; i++) {
		count = count_matches(format, f);
		if (count <= most)
			continue;
		best = format;
		most = count;
	}
	return best;
}

const struct tk_import_format *tk_import_format_beside(const char *path)
{
	const struct tk_import_format *format;

	for (size_t i = 0; (format = get_format(i)); i++)
		if (tk_import_format_skips(format, path))
			return format;
	return NULL;
}

const struct tk_import_format *tk_import_format_find(const char *name)
{
	const struct tk_import_format *format;

	for (size_t i = 0; (format = get_format(i)); i++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}

const char *tk_import_get_format_name(size_t i, char **what)
{
	const struct tk_import_format *format = get_format(i);

	if (format && what)
		*what = tk_import_format_get(format, "what", 0);
	return format ? format->name : NULL;
}

bool tk_import_is_own_format(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && !strcmp(name + len - 4, ".sql") && name[len - 5] != '/';
}
