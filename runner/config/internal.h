/* What the files of runner/config share.
 *
 * Every key of tracker.yml is one row: reading and checking a file, the file of `tracker init` and
 * the reference in docs/reference/configuration.md are all made from these rows. A new key is a
 * field of struct tk_config and a row in keys.c. */
#ifndef TK_CONFIG_INTERNAL_H
#define TK_CONFIG_INTERNAL_H
#include "base/yaml.h"
#include "config/config.h"

enum tk_config_type {
	TK_CONFIG_TEXT,          /* char *: printable text */
	TK_CONFIG_NAME,          /* char *: [A-Za-z0-9._-]+ */
	TK_CONFIG_PATH,          /* char *: absolute; in the file relative to its folder, or ~/ */
	TK_CONFIG_REPOSITORY,    /* char *: a URL, or a path as above */
	TK_CONFIG_URL,           /* char *: http:// or https:// */
	TK_CONFIG_PROBLEM,       /* char *: canonical */
	TK_CONFIG_UPSTREAM_KIND, /* enum tk_upstream_kind */
	TK_CONFIG_SANDBOX_MODE,  /* enum tk_sandbox_mode */
	TK_CONFIG_TUNED,         /* bool: default or tuned */
	TK_CONFIG_DURATION,      /* double, seconds */
	TK_CONFIG_TIME_NS,       /* double, nanoseconds */
	TK_CONFIG_DAYS,          /* uint32_t */
	TK_CONFIG_SIZE,          /* uint64_t, bytes */
	TK_CONFIG_FRACTION,      /* double */
	TK_CONFIG_COUNT,         /* uint32_t */
	TK_CONFIG_BOOL,          /* bool */
	TK_CONFIG_NAMES,         /* char **, NULL-terminated: a list of [A-Za-z0-9._:-]+ */
	TK_CONFIG_TEXTS,         /* char **, NULL-terminated: a list of texts */
	TK_CONFIG_PATHS,         /* the same: paths, or a word: no (empty), yes, recursive */
};

struct tk_config_key {
	const char *name;        /* within its section */
	const char *former_name; /* in older files, still read; NULL: none */
	enum tk_config_type type;
	size_t offset; /* in struct tk_config; keys of "upstreams": in struct tk_upstream_config */
	double min, max; /* of numbers; durations in seconds */
	bool has_auto;   /* a DOUBLE that may also be `auto`, NAN */
	/* The default, as in a file; a list without its brackets. NULL: the field stays NULL. */
	const char *fallback;
	const char *fallback_note; /* the reference names this instead; NULL: `fallback` */
	const char *example; /* shown commented out by `tracker init`; NULL: the key is left out */
	const char *summary; /* lower case, no full stop: the comment in the file */
	const char *details; /* sentences in Markdown that only the reference has; NULL: none */
};

struct tk_config_section {
	const char *name; /* "" for the keys at the top of the file */
	const char *summary;
	const struct tk_config_key *keys; /* a row with name NULL ends them */
	const char *title;                /* of the chapter that begins here; NULL: none does */
	const char *note;    /* Markdown under the table of the reference; NULL: none */
	const char *example; /* YAML at the end of the section; NULL: none */
};

/* In the order of the file and of the reference; a row with name NULL ends them. "upstreams" is a
 * list of mappings, the others are mappings. */
extern const struct tk_config_section tk_config_sections[];

/* "upstreams": its keys are those of each item. */
bool tk_config_is_list_section(const struct tk_config_section *s);

/* The items of `upstreams`, each with a comment why it is there. `host` NULL: a machine of which
 * nothing is known. */
void tk_config_write_default_upstreams(struct tk_buf *out, const struct tk_config_host *host);

/* Checks that need the whole configuration. `y` gives the positions. */
int tk_config_check(const struct tk_config *c, const struct tk_yaml *y, struct tk_error *err);

/* ---- value.c --------------------------------------------------------------------------------- */

/* "text", "duration, 1s to 7d": the type of the key for people. Returns out. */
#define TK_CONFIG_TYPE_SIZE 80
const char *tk_config_describe_type(const struct tk_config_key *key, char out[TK_CONFIG_TYPE_SIZE]);
bool tk_config_is_list(const struct tk_config_key *key);

/* Checks `text` and stores it in the field of `base`, the struct that key->offset counts from.
 * Relative paths start at `root`. The message quotes the text and says what was expected, without
 * naming the key. */
int tk_config_set(const struct tk_config_key *key, const char *text, const char *root, void *base,
        struct tk_error *err);

/* The same for a key that is a list. *bad: the index of the item that is wrong. */
int tk_config_set_list(const struct tk_config_key *key, const char **items, size_t count,
        void *base, size_t *bad, struct tk_error *err);

/* Stores key->fallback; where there is none the field stays as it is. */
int tk_config_set_default(
        const struct tk_config_key *key, const char *root, void *base, struct tk_error *err);

/* Frees the field's memory, if it has any. */
void tk_config_clear(const struct tk_config_key *key, void *base);

#endif
