/* Closed lists of words, one table each.
 *
 * Everything that the tracker decides (a status, a cause, a role, a kind) is an enum in the program
 * and a word in the history, in JSON and on the command line. A vocabulary is the table between the
 * two: names are printed, parsed, listed in help and checked in files from it. To add a word, add a
 * row to the list in the header of its enum. */
#ifndef TK_CORE_VOCABULARY_H
#define TK_CORE_VOCABULARY_H

struct tk_word {
	const char *name;        /* as stored and printed */
	const char *meaning;     /* one clause for help and documents */
	const char *former_name; /* in older files, still parsed; NULL: none */
};

/* words[value] is the word of an enumerator; enumerators are 0 to count - 1. */
struct tk_vocabulary {
	const char *subject; /* for messages: "night status" */
	const struct tk_word *words;
	int count;
};

const char *tk_vocabulary_name(
        const struct tk_vocabulary *v, int value); /* "unknown" outside the list */
const char *tk_vocabulary_meaning(
        const struct tk_vocabulary *v, int value); /* "" outside the list */
/* 0, or TK_EDATA: not in the list, or NULL; *value is unchanged then. */
int tk_vocabulary_parse(const struct tk_vocabulary *v, const char *name, int *value);
/* The name that the word has now, and the first one that it had. A name outside the list is
 * returned as it is. */
const char *tk_vocabulary_current_name(const struct tk_vocabulary *v, const char *name);
const char *tk_vocabulary_first_name(const struct tk_vocabulary *v, const char *name);

/* Rows of a list: X(id, name, meaning) or X(id, name, meaning, former_name). */
#define TK_VOCABULARY_ENUM(id, ...) id,
#define TK_VOCABULARY_WORD(id, ...) [id] = {__VA_ARGS__},

/* Defines tk_<stem>_words from the rows of LIST. */
#define TK_VOCABULARY_DEFINE(stem, subject, LIST, WORD) \
	static const struct tk_word stem##_table[] = {LIST(WORD)}; \
	const struct tk_vocabulary tk_##stem##_words = { \
	        subject, stem##_table, (int)(sizeof stem##_table / sizeof stem##_table[0])}

/* Defines tk_<stem>_name(), of an enum whose words are written and never parsed. */
#define TK_VOCABULARY_NAME(stem) \
	const char *tk_##stem##_name(enum tk_##stem value) \
	{ \
		return tk_vocabulary_name(&tk_##stem##_words, (int)value); \
	} \
	_Static_assert( \
	        sizeof(enum tk_##stem) == sizeof(int), "columns of the store hold enums as int")

/* Defines tk_<stem>_name() and tk_<stem>_parse() as the header of the enum declares them. */
#define TK_VOCABULARY_FUNCTIONS(stem) \
	int tk_##stem##_parse(const char *name, enum tk_##stem *out) \
	{ \
		int value, status = tk_vocabulary_parse(&tk_##stem##_words, name, &value); \
\
		if (!status) \
			*out = (enum tk_##stem)value; \
		return status; \
	} \
	TK_VOCABULARY_NAME(stem)

/* All of it for a list whose rows are words as they stand: words that are parsed too, and words
 * that are only written. */
#define TK_VOCABULARY(stem, subject, LIST) \
	TK_VOCABULARY_DEFINE(stem, subject, LIST, TK_VOCABULARY_WORD); \
	TK_VOCABULARY_FUNCTIONS(stem)
#define TK_VOCABULARY_WRITTEN(stem, subject, LIST) \
	TK_VOCABULARY_DEFINE(stem, subject, LIST, TK_VOCABULARY_WORD); \
	TK_VOCABULARY_NAME(stem)

#endif
