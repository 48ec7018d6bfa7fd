/* What a fuzz target defines. Inputs are not NUL-terminated; return 0. A finding is a crash, a
 * hang, a sanitizer report, or abort(). */
#ifndef TK_TESTS_FUZZ_H
#define TK_TESTS_FUZZ_H
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
