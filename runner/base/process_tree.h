/* Counts the processes that a child has started. */
#ifndef TK_BASE_PROCESS_TREE_H
#define TK_BASE_PROCESS_TREE_H
#include <sys/types.h>

/* The child, its process group and all descendants that are still linked to one of them. setsid()
 * and namespaces hide none: bubblewrap's first process adopts orphans. Without bubblewrap, an
 * orphan that has left the group is not found. 0: /proc cannot be read. */
unsigned tk_process_tree_count(pid_t child);

#endif
