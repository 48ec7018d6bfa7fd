#include "cli/setup/completion_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "config/config.h"
#include "nightly/plan/backend_name.h"
#include "nightly/plan/modules.h"
#include "store/store.h"
#include "suite/suite.h"

const struct tk_completion_kind tk_completion_kinds[] = {
        {"series", "SERIES"},
        {"alerts", "ALERT"},
        {"upstreams", "UPSTREAM"},
        {"suites", "NAME|FILE"},
        {"machines", "OLD"},
        {"backends", "BACKEND"},
        {0},
};

/* The shell evaluates the list: a name with other characters (a file in suites/, an imported
 * history) is left out. */
static void print_name(const char *name)
{
	static const char allowed[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:";

	if (*name && strspn(name, allowed) == strlen(name))
		puts(name);
}

static void print_series(
        const struct tk_globals *g, const struct tk_config *config, struct tk_store *s)
{
	struct tk_rows rows = {0};

	if (s && !tk_store_list_series(s, &rows, NULL))
		for (size_t i = 0; i < rows.count; i++)
			print_name(TK_ROWS_AT(&rows, struct tk_series_row, i)->slug);
	tk_rows_free(&rows);
}

static void print_alerts(
        const struct tk_globals *g, const struct tk_config *config, struct tk_store *s)
{
	struct tk_rows rows = {0};
	char id[9];

	if (s && !tk_store_list_alerts(s, &rows, NULL))
		for (size_t i = 0; i < rows.count; i++) {
			const struct tk_alert_row *a = TK_ROWS_AT(&rows, struct tk_alert_row, i);

			snprintf(id, sizeof id, "%s", a->uid);
			if (!a->closed_s)
				print_name(id);
		}
	tk_rows_free(&rows);
}

static void print_upstreams(
        const struct tk_globals *g, const struct tk_config *config, struct tk_store *s)
{
	for (size_t i = 0; i < config->upstream_count; i++)
		print_name(config->upstreams[i].name);
}

static void print_suites(
        const struct tk_globals *g, const struct tk_config *config, struct tk_store *s)
{
	char **names = NULL;
	size_t count = 0;

	if (tk_suite_list_names(config->root, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++)
		print_name(names[i]);
	tk_names_free(names, count);
}

static void print_machines(
        const struct tk_globals *g, const struct tk_config *config, struct tk_store *s)
{
	struct tk_rows rows = {0};

	if (s && !tk_store_list_machines(s, &rows, NULL))
		for (size_t i = 0; i < rows.count; i++)
			print_name(TK_ROWS_AT(&rows, struct tk_machine_row, i)->name);
	tk_rows_free(&rows);
}

static void print_backends(
        const struct tk_globals *g, const struct tk_config *config, struct tk_store *s)
{
	struct tk_modules *modules = NULL;

	if (!tk_modules_load(g->program, &modules, NULL))
		tk_backend_list(config, modules, print_name, NULL);
	tk_modules_free(modules);
}

/* In the order of tk_completion_kinds. */
static void (*const printers[])(
        const struct tk_globals *g, const struct tk_config *config, struct tk_store *s) = {
        print_series, print_alerts, print_upstreams, print_suites, print_machines, print_backends};

int tk_completion_print_names(const struct tk_globals *g, const char *kind)
{
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	size_t i = 0;

	while (tk_completion_kinds[i].kind && strcmp(tk_completion_kinds[i].kind, kind) != 0)
		i++;
	if (!tk_completion_kinds[i].kind)
		return TK_EXIT_USAGE;
	if (tk_config_load(".", g->config_path, &config, NULL))
		return TK_EXIT_OK;
	if (tk_store_open(g->db_path ? g->db_path : config->db, TK_STORE_READ, &store, NULL))
		store = NULL;
	printers[i](g, config, store);
	tk_store_close(store);
	tk_config_free(config);
	return TK_EXIT_OK;
}
