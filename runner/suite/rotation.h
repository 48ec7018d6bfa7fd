/* Rotation of a large suite: each night measures the problems of one slot of K, so that K nights
 * in a row measure every problem once. */
#ifndef TK_SUITE_ROTATION_H
#define TK_SUITE_ROTATION_H
#include <stdbool.h>
#include <stdint.h>

#define TK_ROTATION_NIGHTS_MAX 366

/* Whether the night with this number, which counts from 0 and rises by 1 from night to night,
 * measures a problem. nights: K; 1: every night does. text: canonical, see core/problem.h. The slot
 * of a problem depends on its text and K only: adding or removing others does not move it. */
bool tk_rotation_is_due(const char *text, uint32_t nights, uint64_t night_number);

#endif
