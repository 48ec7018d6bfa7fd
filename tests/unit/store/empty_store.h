/* A new, empty store in almost no time: the schema is made once in each process, and copied. */
#ifndef TEST_EMPTY_STORE_H
#define TEST_EMPTY_STORE_H
#include "base/base.h"
#include "store/store.h"

/* As tk_store_open() with TK_STORE_CREATE, of a path where nothing is yet. */
static inline int empty_store_open(const char *path, struct tk_store **out, struct tk_error *err)
{
	static struct tk_buf image;
	int status;

	if (image.len)
		status = tk_file_write(path, image.data, image.len, err);
	else if (!(status = tk_store_open(path, TK_STORE_CREATE, out, err))) {
		tk_store_close(*out); /* also ends the write-ahead log */
		status = tk_file_read(path, 1 << 24, &image, err);
	}
	return status ? status : tk_store_open(path, TK_STORE_CREATE, out, err);
}

#endif
