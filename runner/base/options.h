/* The options of a command as data. Parsing, checks, --help, the manual and the completion come
 * from one table of rows, over argp.
 *
 *   static struct { bool all; size_t limit; const char *night; } o = {.limit = 20};
 *   static const struct tk_option options[] = {
 *           {TK_OPT_FLAG("all", 'a', &o.all, "List every night")},
 *           {TK_OPT_COUNT("limit", 'n', "N", 0, 1e6, &o.limit, "List at most N nights")},
 *           {TK_OPT_ARGUMENT(&o.night, NULL)},
 *           {0},
 *   };
 *
 * The rows of a group are written in alphabetical order. */
#ifndef TK_BASE_OPTIONS_H
#define TK_BASE_OPTIONS_H
#include "base/base.h"

enum tk_option_kind {
	TK_OPTION_HEADING = 1, /* of the rows that follow */
	TK_OPTION_FLAG,        /* bool */
	TK_OPTION_TEXT,        /* const char * */
	TK_OPTION_WORD,        /* bool or an enum: the position in `words` */
	TK_OPTION_NUMBER,      /* in the units of tracker.yml (base/base.h) */
	TK_OPTION_LIST,        /* struct tk_option_list: the option may be repeated */
	TK_OPTION_ITEMS,       /* struct tk_option_list: "a,b" */
	TK_OPTION_PARSED,      /* by a function */
	TK_OPTION_ARGUMENT,    /* const char *: the next argument */
	TK_OPTION_ARGUMENTS,   /* struct tk_option_list: the arguments that are left */
};

struct tk_option_list {
	char **items; /* ends with NULL; NULL where there are none */
	size_t count;
};

void tk_option_list_append(struct tk_option_list *list, char *item);

enum tk_option_number { TK_OPTION_DOUBLE, TK_OPTION_SIZE, TK_OPTION_INT64, TK_OPTION_INT };

struct tk_option {
	enum tk_option_kind kind;
	const char *name; /* without "--"; NULL: a letter alone */
	int letter;       /* 0: none */
	void *to;
	const char *arg; /* as help shows the value; ARGUMENT, ARGUMENTS: the message where it is
	                    missing, NULL where it may be */
	const char *help;
	const char *words;     /* WORD: "text|json" */
	size_t size;           /* WORD: of *to */
	enum tk_quantity unit; /* NUMBER, from min to max */
	enum tk_option_number number;
	double min, max;
	/* PARSED. The message of a failure begins with "expected", or is a whole sentence. */
	int (*parse)(const char *text, void *to, struct tk_error *err);
	const char *excludes; /* "import export": names of options that cannot be with this one */
	const char *needs;    /* an option that must be with this one */
};

/* A pointer of the type that the kind needs, checked by the compiler. */
#define TK_OPT_TO(type, at) .to = (void *)(1 ? (at) : (type *)0)
#define TK_OPT_NAME(kind_, name_, letter_, help_) \
	.kind = TK_OPTION_##kind_, .name = (name_), .letter = (letter_), .help = (help_)

#define TK_OPT_HEADING(text) .kind = TK_OPTION_HEADING, .help = (text)
#define TK_OPT_FLAG(name, letter, at, help) \
	TK_OPT_NAME(FLAG, name, letter, help), TK_OPT_TO(bool, at)
#define TK_OPT_TEXT(name, letter, arg_, at, help) \
	TK_OPT_NAME(TEXT, name, letter, help), .arg = (arg_), TK_OPT_TO(const char *, at)
#define TK_OPT_WORD(name, letter, words_, at, help) \
	TK_OPT_NAME(WORD, name, letter, help), .arg = (words_), .words = (words_), \
	                                       .to = (void *)(at), .size = sizeof *(at)
/* "--format=text|json" as a bool */
#define TK_OPT_JSON(at, help) TK_OPT_WORD("format", 'f', "text|json", at, help)
#define TK_OPT_NUMBER(name, letter, arg_, unit_, min_, max_, at, help) \
	TK_OPT_NAME(NUMBER, name, letter, help), .arg = (arg_), .unit = (unit_), .min = (min_), \
	        .max = (max_), .to = (void *)(at), \
	        .number = _Generic((at), double *: TK_OPTION_DOUBLE, size_t *: TK_OPTION_SIZE, \
	                int64_t *: TK_OPTION_INT64, int *: TK_OPTION_INT)
#define TK_OPT_COUNT(name, letter, arg, min, max, at, help) \
	TK_OPT_NUMBER(name, letter, arg, TK_QUANTITY_COUNT, min, max, at, help)
#define TK_OPT_LIST(name, letter, arg_, at, help) \
	TK_OPT_NAME(LIST, name, letter, help), .arg = (arg_), TK_OPT_TO(struct tk_option_list, at)
#define TK_OPT_ITEMS(name, letter, arg_, at, help) \
	TK_OPT_NAME(ITEMS, name, letter, help), .arg = (arg_), TK_OPT_TO(struct tk_option_list, at)
#define TK_OPT_PARSED(name, letter, arg_, parse_, at, help) \
	TK_OPT_NAME(PARSED, name, letter, help), .arg = (arg_), .parse = (parse_), \
	                                         .to = (void *)(at)
#define TK_OPT_ARGUMENT(at, missing) \
	.kind = TK_OPTION_ARGUMENT, .arg = (missing), TK_OPT_TO(const char *, at)
#define TK_OPT_ARGUMENTS(at, missing) \
	.kind = TK_OPTION_ARGUMENTS, .arg = (missing), TK_OPT_TO(struct tk_option_list, at)

/* How a program or a command of it is called. */
struct tk_usage {
	const struct tk_option *options; /* ends with kind 0; NULL: none */
	const char *arguments;           /* "[NIGHT]", a line for each form; NULL: none */
	const char *help;                /* what it does, '\v', notes and examples */
	const char *surplus; /* what an argument too many is told: "expected one night" */
	int (*check)(struct tk_error *err); /* of the options together; NULL: none */
	void (*write_notes)(FILE *out);     /* before the notes, in help and manual; NULL: none */
	bool stops_at_argument;             /* the rest is not parsed */
};

/* Parses a line, argv[0] being the program's name for messages; `global` are options that help does
 * not list. Returns the position in argv of the first argument that was not parsed. Ends the
 * program with argp_err_exit_status and a message if anything is wrong. */
int tk_options_parse(
        const struct tk_usage *u, const struct tk_option *global, int argc, char **argv);

/* As --help of that name prints it. */
void tk_options_print_help(const struct tk_usage *u, const char *name, FILE *out);

/* Whether it is an option, which help and manual list. */
bool tk_option_is_listed(const struct tk_option *o);

/* What it does, and the notes with what write_notes adds. The caller frees both. */
char *tk_usage_purpose(const struct tk_usage *u);
char *tk_usage_notes(const struct tk_usage *u);

/* Fails with TK_EUSAGE: `word` is none of the subcommands `known`, which ends with NULL. */
int tk_options_fail_action(const char *word, const char *const *known, struct tk_error *err);

#endif
