/* A shared object with a section of device code in it, made by the C compiler: what the tracker
 * stores of it. */
#ifndef TK_TEST_SECTION_H
#define TK_TEST_SECTION_H
#include "scratch.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "build/build.h"

/* `name`: ".nv_fatbin" or ".hip_fatbin". k and n may be NULL. */
static inline void hash_section(const struct scratch *s, const char *name,
        const struct tk_buf *bytes, const char *file, char hex[TK_HASH_HEX_SIZE],
        struct tk_kernel_symbol **k, size_t *n)
{
	struct tk_error err = {0};
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s.bin", s->dir, file);
	assert_int_equal(tk_file_write(path, bytes->data, bytes->len, NULL), TK_OK);
	sh(s,
	        "cat >%s.c <<'END'\nint tk_backend_entry(void) { return 1; }\n"
	        "__asm__(\".section %s,\\\"a\\\"; .balign 4096; .incbin \\\"%s.bin\\\"; "
	        ".previous\");\nEND\n"
	        "cc -O2 -fPIC -shared -Wl,--emit-relocs -o %s.so %s.c",
	        file, name, file, file, file);
	snprintf(path, sizeof(path), "%s/%s.so", s->dir, file);
	if (tk_code_hash_object(path, NULL, hex, k, n, &err))
		fail_msg("%s", err.message);
}

#endif
