/* Problems of suites, each once: what a night plans, what `tracker ab` compares, and what an
 * adapter compiles kernels for. Private to nightly/. */
#ifndef TK_NIGHTLY_PROBLEM_LIST_H
#define TK_NIGHTLY_PROBLEM_LIST_H
#include <stddef.h>
#include <stdint.h>

struct tk_config;
struct tk_error;

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

#endif
