/* Tones: how urgent a word is on a page. Each is a class of the style sheets. */
#ifndef TK_SITE_TONE_H
#define TK_SITE_TONE_H
#include "core/night.h"
#include "core/vocabulary.h"

struct tk_site_series;
struct tk_value;

enum tk_tone { TK_TONE_QUIET, TK_TONE_NOTE, TK_TONE_GOOD, TK_TONE_BAD };
const char *tk_tone_name(enum tk_tone tone);
void tk_tone_set(struct tk_value *o, const char *key, enum tk_tone tone);

/* Of the verdict of a series; a series that was skipped needs attention, but is not worse. */
enum tk_tone tk_series_tone(const struct tk_site_series *s);
/* The same, as if nobody had accepted the change. */
enum tk_tone tk_series_change_tone(const struct tk_site_series *s);
enum tk_tone tk_outcome_tone(enum tk_outcome outcome);

/* Lists of stored words, and the tone of each value; NULL: all are quiet. The last has no name. */
struct tk_tone_list {
	const char *name;
	const struct tk_vocabulary *words;
	const enum tk_tone *tones;
};
extern const struct tk_tone_list tk_tone_lists[];
/* The tone of a word; an unknown one is quiet. */
enum tk_tone tk_tone_find(const char *list, const char *word);
/* Its place in the list; -1: not in it. */
int tk_tone_find_place(const char *list, const char *word);

#endif
