/* The kernels of builds, each read once, for several threads at a time. Private to decide/. */
#ifndef TK_DECIDE_BUILD_CODE_H
#define TK_DECIDE_BUILD_CODE_H
#include <stdint.h>

struct tk_error;
struct tk_rows;
struct tk_store;

struct tk_build_code;

struct tk_build_code *tk_build_code_new(void); /* NULL: out of memory */
void tk_build_code_free(struct tk_build_code *c);
/* Forgets all builds: a search among those of one night is short. No thread may be searching. */
void tk_build_code_clear(struct tk_build_code *c);
/* Reads the kernels of a build that nobody has asked for yet; nothing else may use the store
 * meanwhile. *out is valid until the builds are forgotten. */
int tk_build_code_find(struct tk_build_code *c, struct tk_store *s, int64_t build_id,
        const struct tk_rows **out, struct tk_error *err);

#endif
