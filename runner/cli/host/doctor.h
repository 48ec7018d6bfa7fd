/* `tracker doctor`: inspect.c has what /proc and /sys say, doctor.c the rest. */
#ifndef TK_CLI_DOCTOR_H
#define TK_CLI_DOCTOR_H
#include <jansson.h>

struct tk_error;
struct tk_globals;

/* Adds what this machine has. Nothing here loads a library or talks to a device; null: not known.
 *
 *   "system": {"os","kernel","arch","container","virtual"}
 *   "cpu": {"model","logical","usable","cores","smt","governor","turbo","load_1m","numa_nodes",
 *           "caches":[{"level","type","bytes","shared"}]}
 *   "memory": {"total_bytes","available_bytes"}
 *   "limits": {"cpus","memory_bytes"}, of the control group; null: unlimited
 *   "tools": [{"name","path","version","for"}]; path null: not installed
 *   "libraries": [{"name","path","version"}] */
void tk_doctor_inspect(json_t *report);

/* Its system, tools and libraries, as text. */
int tk_doctor_print_machine(const struct tk_globals *g, const json_t *report, struct tk_error *err);

#endif
