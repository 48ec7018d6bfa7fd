/* What a series is for, which way it is better, and the kinds of devices and ceilings. */
#ifndef TK_CORE_SERIES_H
#define TK_CORE_SERIES_H
#include "core/vocabulary.h"
#include <stdint.h>

#define TK_SERIES_ROLES(X) \
	X(TK_ROLE_SUITE, "suite", "a problem of a suite: it is compared and reported") \
	X(TK_ROLE_CONTROL, "control", \
	        "fixed code that shows when the machine changed, not the code") \
	X(TK_ROLE_CEILING, "ceiling", \
	        "measures a limit of the device: bandwidth or arithmetic rate")
enum tk_series_role { TK_SERIES_ROLES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_series_role_words;
const char *tk_series_role_name(enum tk_series_role value);

#define TK_BETTER(X) \
	X(TK_BETTER_LOWER, "lower", "less is better: times, energy, memory") \
	X(TK_BETTER_HIGHER, "higher", "more is better: rates")
enum tk_better { TK_BETTER(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_better_words;
const char *tk_better_name(enum tk_better value);
int tk_better_parse(const char *name, enum tk_better *out);

#define TK_CEILING_SOURCES(X) \
	X(TK_CEILING_MEASURED, "measured", "by a kernel of the tracker on this device") \
	X(TK_CEILING_DATASHEET, "datasheet", "by the vendor's data sheet")
enum tk_ceiling_source { TK_CEILING_SOURCES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_ceiling_source_words;
const char *tk_ceiling_source_name(enum tk_ceiling_source value);

/* A device layer may be of a kind that this list does not have: TK_DEVICE_OTHER. */
#define TK_DEVICE_KINDS(X) \
	X(TK_DEVICE_CPU, "cpu", "the processor") \
	X(TK_DEVICE_CUDA, "cuda", "a GPU of NVIDIA") \
	X(TK_DEVICE_HIP, "hip", "a GPU of AMD") \
	X(TK_DEVICE_NULL, "null", "a simulated device for tests") \
	X(TK_DEVICE_OTHER, "other", "another kind")
enum tk_device_kind { TK_DEVICE_KINDS(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_device_kind_words;
const char *tk_device_kind_name(enum tk_device_kind value);
enum tk_device_kind tk_device_kind_from_name(
        const char *name); /* NULL or another word: TK_DEVICE_OTHER */
/* Of a set of kinds: 1 << kind. */
uint32_t tk_device_kind_bit(const char *name);

#endif
