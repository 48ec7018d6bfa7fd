/* What `devices` in tracker.yml and --devices select: "all" (every kind but the simulated one),
 * a kind ("cuda"), one device of a kind ("cuda:1"), a GPU by number ("1"), or a UUID. */
#ifndef TK_NIGHTLY_DEVICE_SELECT_H
#define TK_NIGHTLY_DEVICE_SELECT_H
#include <stdbool.h>
#include <stdint.h>

bool tk_device_name_matches(const char *name, const char *kind, uint32_t index, const char *uuid);
/* names: NULL-terminated; uuid: "" where the device has none. */
bool tk_device_is_selected(char *const *names, const char *kind, uint32_t index, const char *uuid);

#endif
