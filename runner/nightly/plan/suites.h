/* What jobs take from suites. Problems, each once: what a night plans, what `tracker ab` compares,
 * and what an adapter compiles kernels for. What jobs need beside their problem, loaded once: the
 * texts of problems with dist=text:NAME, and the sequences of mode sequence:NAME with the backends
 * that launch their kernels. */
#ifndef TK_NIGHTLY_SUITES_H
#define TK_NIGHTLY_SUITES_H
#include "config/suite.h"
#include "nightly/plan/modules.h"
#include "worker/worker.h"

struct tk_config;
struct tk_error;
struct tk_night;

struct tk_listed_problem {
	char *text;             /* canonical */
	char *source, *group;   /* of the last suite that has it */
	uint32_t kinds;         /* of devices that measure it: bits of tk_device_kind_bit */
	uint32_t rotate_nights; /* the shortest rotation of its suites */
};

struct tk_problem_list {
	struct tk_listed_problem *rows; /* in order */
	size_t count;
};

/* For all kinds of devices. */
int tk_problem_list_add(struct tk_problem_list *list, const char *text, struct tk_error *err);
/* name: an entry of `suites`, which may be for the devices of one kind. */
int tk_problem_list_add_suite(struct tk_problem_list *list, const struct tk_config *config,
        const char *name, struct tk_error *err);
int tk_problem_list_add_configured(
        struct tk_problem_list *list, const struct tk_config *config, struct tk_error *err);
void tk_problem_list_free(struct tk_problem_list *list);

/* A list, because jobs point to an entry until the end. */
struct tk_text_entry {
	struct tk_text_entry *next;
	struct tk_text text;
	struct tk_job_text job;
};

/* *out: the text of a problem; NULL if it needs none. Errors as of tk_text_load. */
int tk_texts_find(struct tk_text_entry **list, const char *root, const char *problem,
        const struct tk_job_text **out, struct tk_error *err);
void tk_texts_free(struct tk_text_entry *list);

struct tk_sequence_entry {
	struct tk_sequence_entry *next;
	char device_kind[16];
	struct tk_suite_sequence suite;
	struct tk_job_sequence job;
};

/* Loads a sequence for devices of a kind into the list, unless it is there. */
int tk_sequence_load(struct tk_sequence_entry **list, const char *root,
        const struct tk_modules *modules, const char *device_kind, const char *name,
        const struct tk_sequence_entry **out, struct tk_error *err);
void tk_sequence_free_list(struct tk_sequence_entry *list);

/* A configured mode as the mode of a series: "sequence:NAME" gets the hash of its kernels. */
int tk_night_name_mode(struct tk_night *n, const char *device_kind, const char *mode,
        char out[TK_MODE_WORD_SIZE], struct tk_error *err);
/* The sequence of a series. NULL: its mode is another one; or its suite is gone or has other
 * kernels now, which the worker reports. */
const struct tk_job_sequence *tk_night_find_sequence(
        struct tk_night *n, int64_t device_id, const char *mode);

#endif
