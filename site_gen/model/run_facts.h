/* Other costs of a run than time, from the attributes of the answer of the worker. */
#ifndef TK_SITE_FACTS_H
#define TK_SITE_FACTS_H

struct tk_run_facts {
	double energy_j, workspace_bytes, device_bytes, launch_ns; /* NAN: unknown */
};

/* attributes: a JSON object; anything else has no facts. It is scanned, not parsed: ten times
 * faster, because every series of a site needs it. */
struct tk_run_facts tk_run_facts_parse(const char *attributes);

#endif
