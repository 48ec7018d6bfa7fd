/* In which state a device is while it is measured. Each mode is a series of its own; this is the
 * one list of them. */
#ifndef TK_CORE_MODE_H
#define TK_CORE_MODE_H
#include <stdbool.h>

/* id, word, 1 where input sets are rotated so that caches are cold, what it means
 * (docs/explanation/measuring.md) */
#define TK_MODES(X) \
	X(TK_MODE_COLD, "cold", 1, "cold caches, one sample after the other") \
	X(TK_MODE_HOT, "hot", 0, "one input set that stays in the caches") \
	X(TK_MODE_PACED, "paced", 1, \
	        "cold caches, bursts of about 1 ms with rests between them: the kernel at full " \
	        "clock") \
	X(TK_MODE_SUSTAINED, "sustained", 1, \
	        "cold caches, after the power governor has settled: the kernel under the limits " \
	        "of its card") \
	X(TK_MODE_CONTENDED, "loaded", 1, \
	        "as paced, while copies keep the memory system busy for half of the time")

enum tk_mode {
#define TK_MODE_ENUM(id, word, rotates, meaning) id,
	TK_MODES(TK_MODE_ENUM)
#undef TK_MODE_ENUM
	        TK_MODE_COUNT
};

const char *tk_mode_name(enum tk_mode m);
bool tk_mode_rotates_inputs(enum tk_mode m);
int tk_mode_parse(const char *word, enum tk_mode *out); /* 0, or TK_EDATA */
/* What a kind of device is measured in unless somebody says otherwise: GPUs paced, all others cold.
 */
enum tk_mode tk_mode_default(const char *device_kind);

#endif
