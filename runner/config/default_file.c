/* The commented tracker.yml that `tracker init` writes. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "config/defaults.h"
#include "config/internal.h"
#include "config/keys.h"
#include "config/reference.h"
#include "config/value.h"

#define LINE_MAX_CHARS 100
#define COMMENT_COLUMN 30

/* "# Text" from the column `indent`, wrapped. */
static void add_comment(struct tk_buf *out, int indent, const char *text)
{
	char first = (char)toupper((unsigned char)*text);
	const size_t width = (size_t)(LINE_MAX_CHARS - indent - 2);

	while (*text) {
		size_t len = strlen(text);

		if (len > width)
			for (len = width; len > 1 && text[len] != ' ';)
				len--;
		tk_buf_add_printf(out, "%*s# %c%.*s\n", indent, "", first, (int)len - 1, text + 1);
		text += len;
		text += strspn(text, " ");
		first = *text;
	}
}

/* The line of a key: its default, or its example commented out. */
static void add_line(struct tk_buf *out, int indent, const struct tk_config_key *key,
        const char *value, bool list)
{
	char line[256];
	int used = snprintf(line, sizeof line, "%*s%s%s: %s%s%s", indent, "",
	        key->fallback ? "" : "# ", key->name, list ? "[" : "", value, list ? "]" : "");
	int column = used < COMMENT_COLUMN ? COMMENT_COLUMN : used + 2;

	if (indent && column + 2 + strlen(key->summary) <= LINE_MAX_CHARS) {
		tk_buf_add_printf(out, "%-*s# %s\n", column, line, key->summary);
		return;
	}
	add_comment(out, indent, key->summary);
	tk_buf_add_printf(out, "%s\n", line);
}

static void add_default(struct tk_buf *out, int indent, const struct tk_config_key *key,
        const struct tk_config_host *host)
{
	const char *value = key->fallback ? key->fallback : key->example;
	struct tk_buf suites = TK_BUF_INIT;

	if (!indent && strcmp(key->name, "suites") == 0) {
		tk_config_write_default_suites(&suites, host);
		add_line(out, indent, key, tk_buf_cstr(&suites), false);
	} else {
		add_line(out, indent, key, value, tk_config_is_list(key));
	}
	tk_buf_free(&suites);
}

static void add_keys(
        struct tk_buf *out, const struct tk_config_section *s, const struct tk_config_host *host)
{
	for (const struct tk_config_key *key = s->keys; key->name; key++) {
		if (!*s->name)
			tk_buf_add_str(out, "\n");
		if (key->fallback || key->example)
			add_default(out, *s->name ? 2 : 0, key, host);
	}
}

/* The lines of an example that begin with "  ", commented out. */
static void add_commented_items(struct tk_buf *out, const char *example)
{
	for (const char *end; *example; example = end) {
		end = strchr(example, '\n') + 1;
		if (strncmp(example, "  # ", 4) == 0)
			tk_buf_add_printf(out, "%.*s", (int)(end - example), example);
		else if (strncmp(example, "  ", 2) == 0)
			tk_buf_add_printf(out, "  # %.*s", (int)(end - example - 2), example + 2);
	}
}

/* Commented out: a night would download their newest release. */
static void add_packages(struct tk_buf *out, const struct tk_config_host_package *p)
{
	if (p && p->name)
		tk_buf_add_str(out,
		        "  # Python packages that are installed here; a night downloads "
		        "their newest release:\n");
	for (; p && p->name; p++) {
		tk_buf_add_printf(out, "  # - name: %-20s # %s is here\n  #   kind: package\n",
		        p->name, p->version);
		if (strcmp(p->name, p->package) != 0)
			tk_buf_add_printf(out, "  #   package: %s\n", p->package);
	}
}

static void add_upstreams(
        struct tk_buf *out, const struct tk_config_section *s, const struct tk_config_host *host)
{
	tk_config_write_default_upstreams(out, host);
	add_packages(out, host ? host->packages : NULL);
	tk_buf_add_str(out, "  # More examples:\n");
	add_commented_items(out, s->example);
}

void tk_config_write_default_file(struct tk_buf *out, const struct tk_config_host *host)
{
	tk_buf_add_str(out, "# tracker.yml: what is measured on this machine, how, and what "
	                    "happens with the results.\n"
	                    "# Every key is described in docs/reference/configuration.md. A key "
	                    "that is left out has the\n"
	                    "# value that is shown here. Durations: 500ms 30s 15m 2h 7d; sizes: "
	                    "512MiB 4GiB; percentages:\n"
	                    "# 2% or 0.02.\n");
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++) {
		if (*s->name) {
			tk_buf_add_str(out, "\n");
			add_comment(out, 0, s->summary);
			tk_buf_add_printf(out, "%s:\n", s->name);
		}
		if (tk_config_is_list_section(s))
			add_upstreams(out, s, host);
		else
			add_keys(out, s, host);
	}
}
