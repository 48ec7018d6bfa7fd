/* Status ladders and clean-up as statements.
 *
 *   TRY(f(..., err));           returns the status of a call that failed
 *   AUTO(tk_buf) b = {0};       struct tk_buf b, tk_buf_free(&b) at the end of the scope
 *   AUTO_PTR(tk_hash) h = ...;  struct tk_hash *h, tk_hash_free(h) at the end of the scope
 *   AUTO_TEXT name = ...;       char *name, freed at the end of the scope */
#ifndef TK_BASE_TRY_H
#define TK_BASE_TRY_H
#include <stdlib.h>

#define TRY(call) \
	do { \
		int try_status_ = (call); \
		if (try_status_) \
			return try_status_; \
	} while (0)

#define AUTO(type) __attribute__((cleanup(type##_free))) struct type

/* Needs TK_AUTO_PTR(type) once, in the header that declares type##_free(struct type *). */
#define AUTO_PTR(type) __attribute__((cleanup(type##_free_at))) struct type *
#define TK_AUTO_PTR(type) \
	static inline void type##_free_at(struct type **at) \
	{ \
		type##_free(*at); \
	}

static inline void tk_text_free_at(char **at)
{
	free(*at);
}
#define AUTO_TEXT __attribute__((cleanup(tk_text_free_at))) char *

#endif
