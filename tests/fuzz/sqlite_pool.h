/* Memory of SQLite from a pool: most of the time of a fuzzer that uses a history went into the
 * allocations of SQLite, each of which AddressSanitizer records. Replays of the corpus keep the
 * usual allocator. */
#ifndef TK_TESTS_SQLITE_POOL_H
#define TK_TESTS_SQLITE_POOL_H

/* Call it before the first history is opened. Does nothing in a replay. */
void tk_fuzz_pool_sqlite(void);

#endif
