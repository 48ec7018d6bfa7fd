#include "cli/setup/option_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

static const char *sort_name(const struct tk_option_row *row)
{
	return row->name ? row->name : "";
}

static int compare_rows(const void *a, const void *b)
{
	const struct tk_option_row *x = a, *y = b;

	return x->group != y->group ? x->group - y->group : strcasecmp(sort_name(x), sort_name(y));
}

static struct tk_option_row make_row(
        const struct argp_option *o, const struct argp_option *main, int group, const char *header)
{
	bool has_letter = o->key > ' ' && o->key < 127 && isprint(o->key);

	return (struct tk_option_row){.name = o->name,
	        .letter = has_letter ? (char)o->key : '\0',
	        .arg = main->arg,
	        .arg_optional = main->flags & OPTION_ARG_OPTIONAL,
	        .doc = main->doc ? main->doc : "",
	        .group = group,
	        .header = header};
}

size_t tk_option_list(const struct argp_option *options, struct tk_option_row *rows)
{
	const struct argp_option *main = NULL;
	const char *header = NULL;
	int group = 0;
	size_t count = 0;

	for (const struct argp_option *o = options; o && (o->name || o->key || o->doc); o++) {
		if (!(o->flags & OPTION_ALIAS))
			main = o;
		if (o->group)
			group = o->group;
		if (!o->name && !o->key)
			header = o->doc; /* a row without a name is the heading of its group */
		else if (!(o->flags & (OPTION_HIDDEN | OPTION_DOC)) && count < TK_OPTION_LIST_MAX)
			rows[count++] = make_row(o, main, group, header);
	}
	if (count)
		qsort(rows, count, sizeof *rows, compare_rows);
	return count;
}
