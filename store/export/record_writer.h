/* Records in the three formats of an export. */
#ifndef TK_STORE_RECORD_WRITER_H
#define TK_STORE_RECORD_WRITER_H
#include "store/export/output.h"
#include "store/store.h"

struct tk_record_writer {
	struct tk_export_output out;
	enum tk_record_format format;
	size_t count; /* of records that were written */
};

int tk_record_write(struct tk_record_writer *w, const json_t *record, struct tk_error *err);
/* Ends the text and flushes it. */
int tk_record_write_end(struct tk_record_writer *w, struct tk_error *err);

#endif
