/* Documents made from the table of keys. Failures are in the buffer (tk_buf_status). */
#ifndef TK_CONFIG_REFERENCE_H
#define TK_CONFIG_REFERENCE_H

struct tk_buf;

/* A commented tracker.yml with every default; it loads without a change. */
void tk_config_write_default_file(struct tk_buf *out);

/* docs/reference/configuration.md, in Markdown. */
void tk_config_write_reference(struct tk_buf *out);

/* tracker.yml(5), in roff. */
void tk_config_write_man_page(struct tk_buf *out);

#endif
