/* What this machine has, as JSON: `tracker doctor` prints it. Nothing here loads a library or talks
 * to a device. Null is "not known here". */
#ifndef TK_INSPECT_H
#define TK_INSPECT_H
#include <jansson.h>

/* Each function returns a new reference. */
json_t *tk_inspect_system(void); /* {"os","kernel","arch","container","virtual"} */
/* {"model","logical","usable","cores","smt","governor","turbo","load_1m","numa_nodes",
 *  "caches":[{"level","type","bytes","shared"}]} */
json_t *tk_inspect_cpu(void);
json_t *tk_inspect_memory(void); /* {"total_bytes","available_bytes"} */
json_t *tk_inspect_limits(
        void);                  /* of the control group: {"cpus","memory_bytes"}; null: unlimited */
json_t *tk_inspect_tools(void); /* [{"name","path","version","for"}]; path null: not installed */
json_t *tk_inspect_libraries(void); /* [{"name","path","version"}] */

#endif
