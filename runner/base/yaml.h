/* A YAML document with the position of everything in it (libyaml), for messages and for files whose
 * keys are not a fixed schema. Nodes are small numbers; 0 is "none" and may be given to every
 * function. */
#ifndef TK_BASE_YAML_H
#define TK_BASE_YAML_H
#include "base/base.h"

struct tk_yaml;

enum tk_yaml_kind { TK_YAML_NONE, TK_YAML_SCALAR, TK_YAML_LIST, TK_YAML_MAP };

/* `name` is what messages call the file. TK_ECONFIG with "name:line:column: ..."; one document,
 * nesting up to 100 levels of brackets. */
int tk_yaml_parse(
        const char *name, const char *text, size_t len, struct tk_yaml **out, struct tk_error *err);
void tk_yaml_free(struct tk_yaml *y);
TK_AUTO_PTR(tk_yaml)

int tk_yaml_root(const struct tk_yaml *y); /* 0 if the document is empty */
enum tk_yaml_kind tk_yaml_kind(const struct tk_yaml *y, int node);
const char *tk_yaml_kind_name(
        const struct tk_yaml *y, int node); /* "a list", "a mapping", "a single value" */
const char *tk_yaml_text(
        const struct tk_yaml *y, int node);               /* of a scalar; "" for everything else */
bool tk_yaml_is_empty(const struct tk_yaml *y, int node); /* nothing, or a bare ~ */
size_t tk_yaml_count(const struct tk_yaml *y, int node);  /* items of a list, pairs of a mapping */
int tk_yaml_item(const struct tk_yaml *y, int node, size_t i);        /* i-th item, or i-th value */
int tk_yaml_key(const struct tk_yaml *y, int node, size_t i);         /* i-th key of a mapping */
int tk_yaml_find(const struct tk_yaml *y, int node, const char *key); /* value of a key */
size_t tk_yaml_line(const struct tk_yaml *y, int node);               /* from 1 */

/* "name:line:column: fmt"; returns TK_ECONFIG. Node 0: line 1. */
int tk_yaml_fail(const struct tk_yaml *y, int node, struct tk_error *err, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/* The text of a key, at most 1000 bytes; *out keeps its value if the key is missing or empty. */
int tk_yaml_find_text(
        const struct tk_yaml *y, int map, const char *key, const char **out, struct tk_error *err);

/* Refuses aliases (*name): a small file with aliases can expand to a huge one. `text` is the parsed
 * document. */
int tk_yaml_reject_aliases(
        const struct tk_yaml *y, const char *text, size_t len, struct tk_error *err);

/* Every key of the mapping is a single word, known, and no duplicate. `what` names the mapping in
 * messages: "budgets", "". */
int tk_yaml_check_keys(const struct tk_yaml *y, int map, const char *what, const char *const *known,
        struct tk_error *err);

#endif
