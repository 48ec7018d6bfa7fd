/* Ends the transaction of a night of a replay while the next one is computed: stores its verdicts,
 * which takes as long as all other reads and writes of a night. Private to detect/.
 *
 * Between start and finish the store belongs to a thread of the writer: nobody else may use it. A
 * night is stored as a whole or not at all. */
#ifndef TK_DETECT_NIGHT_WRITER_H
#define TK_DETECT_NIGHT_WRITER_H
#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"
#include "detect/verdict_rows.h"

struct tk_night_writer {
	struct tk_store *store;
	bool is_open; /* a transaction; of the thread while it runs */
	/* To be stored, and then the transaction to be ended; night_id 0: there are none. */
	struct tk_verdict_rows verdicts;
	bool is_running; /* by `thread` */
	pthread_t thread;
	int status; /* of the thread */
	struct tk_error error;
};

/* Begins the transaction of a night, unless that of the night before is still open. */
int tk_night_writer_begin(struct tk_night_writer *w, struct tk_store *s, struct tk_error *err);
/* Takes the verdicts of the night that the open transaction is of. */
void tk_night_writer_set(struct tk_night_writer *w, struct tk_verdict_rows *verdicts);
/* Starts to store them. Does nothing without verdicts, or if no thread can be started. w: may be
 * NULL. */
void tk_night_writer_start(struct tk_night_writer *w);
/* Has stored them, and begun the transaction of the next night; nothing if there were none. w: may
 * be NULL. */
int tk_night_writer_finish(struct tk_night_writer *w, struct tk_error *err);
/* The same at the end: no transaction is open any more. */
int tk_night_writer_end(struct tk_night_writer *w, struct tk_error *err);
/* Rolls back what is not stored. */
void tk_night_writer_abandon(struct tk_night_writer *w);

#endif
