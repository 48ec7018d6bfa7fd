/* Shares of a large suite. Rotation: each night measures the problems of one slot of K, so that K
 * nights in a row measure every problem once. Parts: each of several machines measures one. */
#ifndef TK_SUITE_ROTATION_H
#define TK_SUITE_ROTATION_H
#include <stdbool.h>
#include <stdint.h>

#define TK_ROTATION_NIGHTS_MAX 366

/* What decides the slot of a problem. text: canonical, see core/problem.h. Other problems of the
 * suite have no influence: adding or removing them moves nothing. */
uint32_t tk_rotation_key(const char *text);

/* Whether the night with this number, which counts from 0 and rises by 1 from night to night,
 * measures the problem with this key. nights: K; 0, 1: every night does. */
bool tk_rotation_is_due(uint32_t key, uint32_t nights, uint64_t night_number);

/* "K/N" in decimal digits; false and nothing is set: not 1 <= K <= N <= TK_NIGHT_PARTS_MAX. */
bool tk_part_parse(const char *text, uint32_t *part, uint32_t *parts);

/* A suite in `parts` parts, from 1 on, of which several machines measure one each; 0: there are no
 * parts. A part has the same share of every slot of a rotation. */
bool tk_rotation_is_in_part(uint32_t key, uint32_t part, uint32_t parts);

#endif
