/* Monitors between the nights of a replay: see kept_monitors.h. */
#include "decide/monitor/kept_monitors.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/serializer.h"
#include "decide/monitor/monitor.h"

struct tk_kept_monitor *tk_kept_monitors_find(const struct tk_kept_monitors *k, int64_t device_id)
{
	for (size_t i = 0; k && i < k->count; i++)
		if (k->at[i].state.device_id == device_id)
			return &k->at[i];
	return NULL;
}

int tk_kept_monitors_put(struct tk_kept_monitors *k, const struct tk_monitor_state_row *state,
        struct tk_monitor *monitor, struct tk_error *err)
{
	struct tk_kept_monitor *kept = tk_kept_monitors_find(k, state->device_id), *grown;

	if (!kept) {
		grown = tk_realloc(k->at, (k->count + 1) * sizeof *grown);
		k->at = grown;
		kept = &grown[k->count++];
		*kept = (struct tk_kept_monitor){0};
	}
	tk_monitor_free(kept->monitor);
	kept->state = *state;
	snprintf(kept->options, sizeof kept->options, "%s", state->options);
	kept->state.options = NULL;
	kept->monitor = monitor;
	return TK_OK;
}

int tk_monitor_store_state(struct tk_monitor *monitor, const struct tk_monitor_state_row *state,
        struct tk_store *s, struct tk_error *err)
{
	struct tk_serializer io = {0};
	struct tk_monitor_state_row row = *state;
	int status = tk_monitor_serialize(monitor, &io, err);

	row.numbers = io.at;
	row.count = io.count;
	if (!status)
		status = tk_store_put_monitor_state(s, &row, err);
	tk_serializer_free(&io);
	return status;
}

int tk_kept_monitors_store(
        const struct tk_kept_monitors *k, struct tk_store *s, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < k->count; i++) {
		struct tk_monitor_state_row row = k->at[i].state;

		row.options = k->at[i].options;
		if (k->at[i].monitor)
			status = tk_monitor_store_state(k->at[i].monitor, &row, s, err);
	}
	return status;
}

void tk_kept_monitors_free(struct tk_kept_monitors *k)
{
	for (size_t i = 0; i < k->count; i++)
		tk_monitor_free(k->at[i].monitor);
	free(k->at);
	*k = (struct tk_kept_monitors){0};
}
