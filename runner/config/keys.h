/* Every key of tracker.yml as one row: reading and checking a file, the file of `tracker init`, the
 * reference in docs/reference/configuration.md and the man page are all made from these rows.
 *
 * A new key is a field of struct tk_config and a row in keys.c. */
#ifndef TK_CONFIG_KEYS_H
#define TK_CONFIG_KEYS_H
#include "config/config.h"
#include <stddef.h>

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
};

struct tk_config_key {
	const char *name;        /* within its section */
	const char *former_name; /* in older files, still read; NULL: none */
	enum tk_config_type type;
	size_t offset; /* in struct tk_config; keys of "upstreams": in struct tk_upstream_config */
	double min, max; /* of numbers; durations in seconds */
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

#endif
