/* Settings of the C library's allocator. A matter of the program: libraries leave them alone. */
#ifndef TK_CLI_ALLOCATOR_H
#define TK_CLI_ALLOCATOR_H

/* Keeps freed memory in the process. Writing a site allocates and frees buffers of megabytes for
 * every page, which would be returned to the kernel and zeroed again each time. */
void tk_cli_keep_freed_memory(void);

#endif
