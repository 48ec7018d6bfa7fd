/* The null device, as far as the null backend needs it. Its clock is a number that only launches
 * advance. Private to these two modules. */
#ifndef TK_NULL_DEVICE_H
#define TK_NULL_DEVICE_H
#include "tracker_abi.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>

#define NULL_DEVICE_MAGIC 0x6e756c6c64657631ull

struct tk_device {
	uint64_t magic;
	uint32_t index;
	uint32_t capturing; /* launches go into a graph instead of moving the clock */
	uint32_t throttled; /* reported by telemetry */
	double now_ns, captured_ns;
	double memory_load_until_ns,
	        memory_load_share; /* until then, launches take (1 + share) times as long */
	uint64_t allocated;
	int alone_fd; /* the file that is locked while the device is in use, -1: none */
	uint32_t in_use, strained;
};

static inline void null_device_advance(struct tk_device *dev, double ns)
{
	if (!dev->capturing && dev->now_ns < dev->memory_load_until_ns)
		ns *= 1 + dev->memory_load_share;
	if (dev->capturing)
		dev->captured_ns += ns;
	else
		dev->now_ns += ns;
}

#define NULL_MIN_USE_NS \
	2000000 /* that long it is in use at least: another process would run into it */

/* With the option alone=, takes the device until null_device_release(); fails if another process
 * has it. */
static inline int null_device_acquire(struct tk_device *dev, struct tk_abi_error *err)
{
	if (dev->alone_fd < 0 || dev->in_use)
		return TK_ABI_OK;
	if (flock(dev->alone_fd, LOCK_EX | LOCK_NB) != 0) {
		snprintf(err->message, sizeof err->message, "another process has the null device");
		return TK_ABI_DEVICE;
	}
	dev->in_use = 1;
	nanosleep(&(struct timespec){.tv_nsec = NULL_MIN_USE_NS}, NULL);
	return TK_ABI_OK;
}

static inline void null_device_release(struct tk_device *dev)
{
	if (dev->in_use && !dev->strained)
		flock(dev->alone_fd, LOCK_UN);
	dev->in_use = dev->strained;
}

#endif
