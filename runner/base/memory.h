/* Memory of the program. None of these returns NULL: out of memory ends the process, with a message
 * and exit code 4. What was stored stays (the history is written in transactions), the death of a
 * worker is a row, and `tracker nightly --resume` goes on. */
#ifndef TK_BASE_MEMORY_H
#define TK_BASE_MEMORY_H
#include <stdarg.h>
#include <stddef.h>

/* A size of 0 gives a pointer that can be freed. The caller frees all of them with free(). */
void *tk_malloc(size_t size) __attribute__((malloc, returns_nonnull));
void *tk_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *tk_realloc(void *p, size_t size) __attribute__((returns_nonnull));
void *tk_reallocarray(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
char *tk_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *tk_strndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));
char *tk_sprintf(const char *fmt, ...)
        __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
char *tk_vsprintf(const char *fmt, va_list args)
        __attribute__((malloc, returns_nonnull, format(printf, 1, 0)));

/* p, or the end of the process where p is NULL: for allocations of libraries. */
void *tk_check_memory(void *p) __attribute__((returns_nonnull));

#endif
