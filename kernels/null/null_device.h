/* What the null backend knows of the null device: its clock is a number. A launch moves it, nothing else does.
 * Private to these two modules. */
#ifndef TK_NULL_DEVICE_H
#define TK_NULL_DEVICE_H
#include <stdint.h>

#define NULL_DEVICE_MAGIC 0x6e756c6c64657631ull

struct tk_device {
	uint64_t magic;
	uint32_t index;
	uint32_t capturing; /* launches go into a graph instead of moving the clock */
	uint32_t throttled; /* what telemetry says */
	double now_ns, captured_ns;
	double strain_until_ns, strain_share; /* until then, launches take (1 + share) times as long */
	uint64_t allocated;
};

static inline void null_device_spend(struct tk_device *dev, double ns)
{
	if (!dev->capturing && dev->now_ns < dev->strain_until_ns)
		ns *= 1 + dev->strain_share;
	if (dev->capturing)
		dev->captured_ns += ns;
	else
		dev->now_ns += ns;
}

#endif
