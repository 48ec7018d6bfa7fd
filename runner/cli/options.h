/* Values of options that several commands take. Each function ends the program with a message if
 * the value is wrong (argp_error, exit code 2). */
#ifndef TK_OPTIONS_H
#define TK_OPTIONS_H
#include "base/units.h"
#include "core/mode.h"
#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

struct tk_error;

/* `--NAME=WORD`, where `choices` lists the words as the option table does: "text|json|csv". Returns
 * the position of the word. The message about another word lists them and suggests the nearest. */
size_t tk_option_parse_choice(
        const char *arg, const char *name, const char *choices, struct argp_state *state);

/* `--format=text|json`: true for json */
bool tk_option_parse_json(const char *arg, struct argp_state *state);

/* Fails with TK_EUSAGE: the command has no such action. `known` ends with NULL. */
int tk_option_fail_action(const char *action, const char *const *known, struct tk_error *err);

/* `--mode=MODE`, and the start of its help */
#define TK_OPTION_MODES "cold, hot, paced, sustained, contended or sequence"
#define TK_OPTION_MODE_HELP "Measure in this mode: " TK_OPTION_MODES
/* of a command that does not measure within a sequence */
#define TK_OPTION_SINGLE_MODE_HELP "Measure in this mode: cold, hot, paced, sustained or contended"
enum tk_mode tk_option_parse_mode(const char *arg, struct argp_state *state);

/* `--devices=LIST`: appends the words of the list, which is cut into them. */
#define TK_DEVICE_NAMES_MAX 64
struct tk_device_names {
	char *names[TK_DEVICE_NAMES_MAX + 1]; /* ends with NULL */
	size_t count;
};
void tk_option_parse_devices(char *list, struct tk_device_names *out, struct argp_state *state);

/* `--NAME=N` with a whole number N >= 0 */
size_t tk_option_parse_count(const char *arg, const char *name, struct argp_state *state);

/* `--NAME=VALUE`, from min to max, in the units of tracker.yml (base/units.h). */
double tk_option_parse_quantity(enum tk_quantity kind, const char *arg, const char *name,
        double min, double max, struct argp_state *state);

#endif
