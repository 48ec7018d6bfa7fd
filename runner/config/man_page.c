/* tracker.yml(5), from the same rows as the reference. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "config/internal.h"
#include "config/reference.h"
#include "config/value.h"

static void add_roff_char(struct tk_buf *out, char c)
{
	if (c == '\\')
		tk_buf_add_str(out, "\\e");
	else if (c == '-')
		tk_buf_add_str(out, "\\-");
	else
		tk_buf_add_char(out, c);
}

/* Markdown in a line: `code` is bold, [a link](target) is its text. */
static void add_roff(struct tk_buf *out, const char *markdown)
{
	bool code = false;

	for (const char *p = markdown; *p; p++) {
		const char *text_end = *p == '[' && !code ? strstr(p, "](") : NULL;
		const char *target_end = text_end ? strchr(text_end, ')') : NULL;

		if (target_end) {
			for (p++; p < text_end; p++)
				add_roff_char(out, *p);
			p = target_end;
		} else if (*p == '`') {
			code = !code;
			tk_buf_add_str(out, code ? "\\fB" : "\\fR");
		} else {
			add_roff_char(out, *p);
		}
	}
}

static void add_sentence(struct tk_buf *out, const char *text)
{
	char first[2] = {(char)toupper((unsigned char)*text), '\0'};

	/* A line that begins with . or ' would be a request. */
	tk_buf_add_str(out, "\\&");
	if (*text != '`')
		add_roff(out, first);
	add_roff(out, *text == '`' ? text : text + 1);
	tk_buf_add_str(out, text[strlen(text) - 1] == '.' ? "\n" : ".\n");
}

static void add_key(struct tk_buf *out, const struct tk_config_key *key)
{
	const char *fallback = key->fallback_note ? key->fallback_note : key->fallback;
	bool list = tk_config_is_list(key) && !key->fallback_note;
	char type[TK_CONFIG_TYPE_SIZE];

	tk_buf_add_printf(out, ".TP\n.B %s\n", key->name);
	add_sentence(out, key->summary);
	if (key->details)
		add_sentence(out, key->details);
	tk_buf_add_printf(out, "Type: %s. Default: ", tk_config_describe_type(key, type));
	add_roff(out, list ? "[" : "");
	add_roff(out, fallback);
	tk_buf_add_str(out, list ? "].\n" : ".\n");
}

void tk_config_write_man_page(struct tk_buf *out)
{
	tk_buf_add_str(out, ".TH TRACKER.YML 5\n"
	                    ".SH NAME\n"
	                    "tracker.yml \\- configuration of tracker\n"
	                    ".SH DESCRIPTION\n");
	add_sentence(out, tk_config_about);
	for (const char *const *rule = tk_config_rules; *rule; rule++) {
		tk_buf_add_str(out, ".PP\n");
		add_sentence(out, *rule);
	}
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++) {
		tk_buf_add_printf(out, ".SH \"%s\"\n", *s->name ? s->name : "TOP LEVEL");
		if (s->summary)
			add_sentence(out, s->summary);
		for (const struct tk_config_key *key = s->keys; key->name; key++)
			add_key(out, key);
		if (s->note)
			add_sentence(out, s->note);
	}
	tk_buf_add_str(out, ".SH \"SEE ALSO\"\n.BR tracker (1)\n");
}
