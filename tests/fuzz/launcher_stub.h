/* A driver for the launcher without a device: it records what it is given. */
#ifndef LAUNCHER_STUB_H
#define LAUNCHER_STUB_H
#include "launcher.h"

extern struct launcher_stub {
	int loaded, launches;
	uint32_t param_count; /* of every function; 0: the driver does not tell */
	size_t param_bytes[8];
	struct launcher_launch last;
	unsigned char values[8][8]; /* of the last launch's arguments */
	void *stream;
} launcher_stub;

#endif
