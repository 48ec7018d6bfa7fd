/* docs/reference/configuration.md */
#include "config/reference.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "config/internal.h"
#include "config/keys.h"
#include "config/value.h"

#define LINE_MAX_CHARS 100

static const char about[] =
        "`tracker` reads `tracker.yml` in the folder it works in (`-C DIR` changes the folder, "
        "`--config=FILE` the file). Without a file it uses the defaults below. `tracker init` "
        "writes them as a commented file; `tracker init --print` shows them.";

static const char *const rules[] = {
        "A key that is left out or has no value has its default. A list replaces the default list "
        "as a whole.",
        "An unknown key is an error. Every error is `file:line:column: what is wrong; what was "
        "expected`, with exit code 2: `tracker.yml:2:3: unknown key \"nigth\" in budgets; did you "
        "mean \"night\"?`",
        "A duration is written `200ns` `50us` `1.5ms` `30s` `15m` `2h` `7d` `2w`; a number without "
        "a unit is in seconds. A time (below a minute) needs its unit.",
        "A size is written `512MiB` `4GiB` `100GB`; a number without a unit is in bytes.",
        "A percentage is written `2%`, or as the fraction `0.02`. A number of 1 or more needs the "
        "`%`.",
        "Paths are relative to the file's folder; `~/` is the home folder.",
        "YAML aliases (`*name`) are not accepted.",
        "Options of the command line use the same units.",
        NULL,
};

/* `first` before the first line, `rest` before the others. */
static void add_wrapped(struct tk_buf *out, const char *first, const char *rest, const char *text)
{
	for (const char *prefix = first; *text; prefix = rest) {
		const size_t width = LINE_MAX_CHARS - strlen(prefix);
		size_t len = strlen(text);

		if (len > width)
			for (len = width; len > 1 && text[len] != ' ';)
				len--;
		tk_buf_add_printf(out, "%s%.*s\n", prefix, (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
}

static void add_default(struct tk_buf *out, const struct tk_config_key *key)
{
	bool list = tk_config_is_list(key);

	if (key->fallback_note)
		tk_buf_add_str(out, key->fallback_note);
	else
		tk_buf_add_printf(out, "`%s%s%s`", list ? "[" : "", key->fallback, list ? "]" : "");
}

/* "| `budgets.night` | duration, 1s to 7d | `4h` | Wall time ... |" */
static void add_row(
        struct tk_buf *out, const struct tk_config_section *s, const struct tk_config_key *key)
{
	char type[TK_CONFIG_TYPE_SIZE];

	tk_buf_add_printf(out, "| `%s%s%s` | %s | ", s->name, *s->name ? "." : "", key->name,
	        tk_config_describe_type(key, type));
	add_default(out, key);
	tk_buf_add_printf(out, " | %c%s%s%s |\n", toupper((unsigned char)key->summary[0]),
	        key->summary + 1, key->details ? ". " : "", key->details ? key->details : "");
}

static void add_section(struct tk_buf *out, const struct tk_config_section *s)
{
	if (s->title)
		tk_buf_add_printf(out, "\n## %s\n", s->title);
	if (s->summary)
		tk_buf_add_printf(out, "\n`%s`: %s.\n", s->name, s->summary);
	tk_buf_add_str(out, "\n| key | type | default | meaning |\n| --- | --- | --- | --- |\n");
	for (const struct tk_config_key *key = s->keys; key->name; key++)
		add_row(out, s, key);
	if (s->note)
		tk_buf_add_printf(out, "\n%s\n", s->note);
	if (s->example)
		tk_buf_add_printf(out, "\n```yaml\n%s```\n", s->example);
}

void tk_config_write_reference(struct tk_buf *out)
{
	tk_buf_add_str(out,
	        "# Configuration: tracker.yml\n\n"
	        "<!-- Made by `tracker manual configuration` from runner/config/keys.c; "
	        "do not edit. -->\n\n");
	add_wrapped(out, "", "", about);
	tk_buf_add_str(out, "\n");
	for (const char *const *rule = rules; *rule; rule++)
		add_wrapped(out, "- ", "  ", *rule);
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++)
		add_section(out, s);
}
