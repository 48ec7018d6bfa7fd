/* What else a run took than time: numbers among the attributes that the worker's answer left. */
#ifndef TK_SITE_FACTS_H
#define TK_SITE_FACTS_H

struct tk_run_facts {
	double energy_j, workspace_bytes, device_bytes, launch_ns; /* NAN: unknown */
};

/* attributes: a JSON object. It is only walked through, which costs a tenth of parsing it: this is
 * asked of every series of a site. What is no JSON has no facts. */
struct tk_run_facts tk_run_facts_parse(const char *attributes);

#endif
