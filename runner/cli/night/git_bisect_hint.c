#include "cli/night/git_bisect_hint.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "config/config.h"

static void add_word(struct tk_buf *b, const char *word)
{
	bool plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ012"
	                                   "3456789._/:@+=,-") == strlen(word);

	if (plain) {
		tk_buf_add_str(b, word);
		return;
	}
	tk_buf_add_char(b, '\'');
	for (; *word; word++)
		if (*word == '\'')
			tk_buf_add_str(b, "'\\''");
		else
			tk_buf_add_char(b, *word);
	tk_buf_add_char(b, '\'');
}

static void add_option(struct tk_buf *b, const char *name, const char *value)
{
	tk_buf_add_printf(b, " %s=", name);
	add_word(b, value);
}

/* The command is run in a clone of the upstream, so it names this configuration and this
 * history. */
static void add_tracker(
        struct tk_buf *b, const struct tk_globals *g, const struct tk_config *config)
{
	char *db = tk_path_make_absolute(g->db_path ? g->db_path : config->db);

	add_word(b, g->program);
	if (config->path) {
		add_option(b, "--config", config->path);
	} else {
		tk_buf_add_str(b, " -C ");
		add_word(b, config->root);
	}
	if (db)
		add_option(b, "--db", db);
	free(db);
}

void tk_git_bisect_hint_print(FILE *out, const char *indent, const struct tk_globals *g,
        const struct tk_config *config, const char *upstream, const char *series, const char *good,
        const char *bad)
{
	struct tk_buf b = TK_BUF_INIT;
	const struct tk_upstream_config *u = tk_config_find_upstream(config, upstream);
	const char *url = u && u->url ? u->url : "";

	tk_buf_add_printf(&b, "%sgit log --first-parent --oneline %.12s..%.12s", indent, good, bad);
	if (*url) {
		tk_buf_add_str(&b, "   # in a clone of ");
		add_word(&b, url);
	}
	tk_buf_add_printf(&b, "\n%sgit bisect start --first-parent %.12s %.12s && git bisect run ",
	        indent, bad, good);
	add_tracker(&b, g, config);
	tk_buf_add_str(&b, " bisect-step ");
	add_word(&b, series);
	add_option(&b, "--good", good);
	add_option(&b, "--bad", bad);
	tk_text_write_sanitized(out, tk_buf_cstr(&b), "\n");
	fputc('\n', out);
	tk_buf_free(&b);
}
