/* The state of the caches, the clock and the memory system while a kernel is measured. Each mode is
 * a series of its own. How each is produced: docs/explanation/measuring.md. */
#ifndef TK_CORE_MODE_H
#define TK_CORE_MODE_H
#include <stdbool.h>

#include "core/vocabulary.h"

struct tk_error;

/* id, name, whether input sets are rotated so that caches are cold, meaning, former name */
#define TK_MODES(X) \
	X(TK_MODE_COLD, "cold", true, "cold caches, one sample after the other") \
	X(TK_MODE_HOT, "hot", false, "one input set that stays in the caches") \
	X(TK_MODE_PACED, "paced", true, \
	        "cold caches, bursts of about 1 ms with rests between them: the kernel at full " \
	        "clock") \
	X(TK_MODE_SUSTAINED, "sustained", true, \
	        "cold caches, after the power governor has settled: the kernel under the limits " \
	        "of its card") \
	X(TK_MODE_CONTENDED, "contended", true, \
	        "as paced, while copies keep the memory system busy for half of the time", \
	        "loaded") \
	X(TK_MODE_SEQUENCE, "sequence", true, \
	        "between the kernels of a model's layer, one layer after the other")

enum tk_mode {
#define TK_MODE_ENUM(id, ...) id,
	TK_MODES(TK_MODE_ENUM)
#undef TK_MODE_ENUM
	        TK_MODE_COUNT
};
extern const struct tk_vocabulary tk_mode_words;
const char *tk_mode_name(enum tk_mode value);
/* 0 or TK_EDATA. Also reads what says which sequence: "sequence:NAME", "sequence:NAME@HASH". */
int tk_mode_parse(const char *name, enum tk_mode *out);

/* A series in mode sequence has "sequence:NAME@HASH" as its mode, with the first digits of the hash
 * of the sequence's kernels: other kernels are another series. */
#define TK_MODE_WORD_SIZE 96
/* "sequence:NAME@HASH"; `hash` is hexadecimal and may be longer. TK_EDATA: no such name. */
int tk_mode_format_sequence(
        const char *name, const char *hash, char out[TK_MODE_WORD_SIZE], struct tk_error *err);
/* The name in "sequence:NAME" or "sequence:NAME@HASH". False: there is none. */
bool tk_mode_get_sequence(const char *word, char name[TK_MODE_WORD_SIZE]);
bool tk_mode_rotates_inputs(enum tk_mode value);
/* The mode of a device unless the user says otherwise: paced on GPUs, else cold. */
enum tk_mode tk_mode_default(const char *device_kind);

#endif
