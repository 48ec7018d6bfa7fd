/* See publish.h. */
#include "cli/night/publish.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "config/config.h"
#include "site_gen/site.h"
#include <stdio.h>
#include <stdlib.h>

static int write_site(void *arg, struct tk_store *store, char *index_path, struct tk_error *err)
{
	const struct tk_config *config = arg;
	char *templates = tk_path_join(tk_path_data_dir(), "templates");
	if (!templates)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	struct tk_site_options site = {.out_dir = config->site_dir,
	        .templates_dir = templates,
	        .title = config->site_title,
	        .base_url = config->site_url ? config->site_url : "",
	        .tie = config->site_tie,
	        .now_s = tk_clock_now_s()};
	struct tk_site_report written = {0};
	int status = tk_site_write(store, &site, &written, err);
	free(templates);
	if (!status)
		snprintf(index_path, TK_NIGHT_INDEX_SIZE, "%s/index.html", config->site_dir);
	return status;
}

struct tk_night_publisher tk_site_publisher(const struct tk_config *config)
{
	return (struct tk_night_publisher){.arg = (void *)config, .publish = write_site};
}
