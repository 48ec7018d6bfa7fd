/* A SELECT of the caller's: named columns out, and functions of SQL that the program computes. */
#ifndef TK_STORE_SQL_H
#define TK_STORE_SQL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_store;

enum tk_cell_type { TK_CELL_NULL, TK_CELL_INT, TK_CELL_REAL, TK_CELL_TEXT };

/* A value of a row, a parameter of a query, or an argument or the result of a function. */
struct tk_cell {
	const char *name; /* of the column; of a row only */
	const char *text; /* of TEXT; else "" */
	int64_t integer;  /* of INT; else 0 */
	double real;      /* of REAL and INT; else NAN */
	enum tk_cell_type type;
};

#define TK_CELL_ID(value) {.type = TK_CELL_INT, .integer = (value)}
#define TK_CELL_STR(value) {.type = TK_CELL_TEXT, .text = (value)}
#define TK_QUERY_COLUMNS_MAX 64

/* Calls `row` for each row; its texts live until that returns. A status but 0 ends the query.
 * The statement is kept for the next call with the same text, which `row` must not make. */
int tk_sql_query(struct tk_store *s, const char *sql, const struct tk_cell *args, size_t arg_count,
        int (*row)(void *user, const struct tk_cell *cells, size_t count, struct tk_error *err),
        void *user, struct tk_error *err);

#define TK_SQL_SCRATCH_SIZE 512
#define TK_SQL_ARGS_MAX 4

/* A pure function of SQL: the result is NULL until it is set. `text` of the result is copied after
 * the call, and may point into `scratch`. */
struct tk_sql_function {
	const char *name;
	int arg_count;
	void (*compute)(const struct tk_cell *args, struct tk_cell *result,
	        char scratch[TK_SQL_SCRATCH_SIZE]);
};

/* Defines the functions for the life of the store. */
int tk_sql_define_functions(struct tk_store *s, const struct tk_sql_function *functions,
        size_t count, struct tk_error *err);

#endif
