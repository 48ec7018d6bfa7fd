/* `tracker init`: writes the commented default configuration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/host/survey.h"
#include "config/reference.h"

static struct {
	bool force, print;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_FLAG("force", 0, &opt.force, "Overwrite an existing file")},
        {TK_OPT_FLAG("print", 0, &opt.print, "Write to the standard output instead of a file")},
        {0},
};

/* The modules may be missing: then nothing is known of this machine. */
static int write_default(
        const struct tk_globals *g, const char *path, struct tk_buf *out, struct tk_error *err)
{
	char *root = tk_path_join(path, "..");
	struct tk_survey *survey = NULL;
	struct tk_error why = {0};

	if (tk_survey_new(g, strchr(path, '/') ? root : ".", &survey, &why))
		tk_log(TK_LOG_WARN, "init", NULL,
		        "%s: the file does not depend on the devices of this machine", why.message);
	if (survey)
		tk_survey_find_packages(survey);
	tk_config_write_default_file(out, survey ? tk_survey_host(survey) : NULL);
	tk_survey_free(survey);
	free(root);
	return tk_buf_status(out, err);
}

static int run_init(struct tk_globals *g, struct tk_error *err)
{
	const char *path = g->config_path ? g->config_path : "tracker.yml";
	AUTO(tk_buf) text = TK_BUF_INIT;

	TRY(write_default(g, path, &text, err));
	if (opt.print) {
		fputs(tk_buf_cstr(&text), stdout);
		return TK_OK;
	}
	if (!opt.force && tk_file_exists(path))
		return tk_fail(err, TK_EUSAGE,
		        "%s already exists; --force overwrites it, --print shows what would be "
		        "written",
		        path);
	TRY(tk_file_write(path, tk_buf_cstr(&text), text.len, err));
	if (!g->quiet)
		printf("%s: written; docs/reference/configuration.md explains every key\n", path);
	return TK_OK;
}

const struct tk_command tk_command_init = {.name = "init",
        .summary = "write a commented tracker.yml",
        .usage = {.options = options,
                .surplus = "--config=FILE names the file",
                .help = "Write a commented tracker.yml (or the file of --config) with every "
                        "default, for the devices, libraries and modules of this machine.\v"
                        "Without a configuration the tracker works with the same text.\n\n"
                        "Examples:\n"
                        "  tracker init\n"
                        "  tracker init --print | less"},
        .run = run_init};
