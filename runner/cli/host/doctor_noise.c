/* What makes measurements on this machine noisy. */
#include "cli/host/doctor.h"

#include <string.h>

static void advise_cpu(struct tk_doctor *d)
{
	const json_t *cpu = json_object_get(d->report, "cpu");
	const char *governor = json_string_value(json_object_get(cpu, "governor")),
	           *smt = json_string_value(json_object_get(cpu, "smt"));
	double load = json_number_value(json_object_get(cpu, "load_1m"));
	json_int_t usable = json_integer_value(json_object_get(cpu, "usable")),
	           logical = json_integer_value(json_object_get(cpu, "logical"));

	if (governor && strcmp(governor, "performance") != 0)
		tk_doctor_add_line(d, "advice",
		        "CPU governor \"%s\" changes the clocks with the load; fix them with "
		        "`cpupower frequency-set -g performance`",
		        governor);
	if (json_is_true(json_object_get(cpu, "turbo")))
		tk_doctor_add_line(d, "advice",
		        "turbo is on: clocks depend on temperature and on other cores; turn it off "
		        "to compare nights");
	if (smt && strcmp(smt, "on") == 0)
		tk_doctor_add_line(d, "advice",
		        "SMT is on: two threads share a core; set `threads` to the number of "
		        "cores");
	if (load > 0.5 * (double)usable)
		tk_doctor_add_line(d, "advice",
		        "load average %.1f on %lld CPUs: other processes disturb the measurements",
		        load, (long long)usable);
	if (usable < logical)
		tk_doctor_add_line(d, "advice", "only %lld of %lld CPUs are usable",
		        (long long)usable, (long long)logical);
}

void tk_doctor_check_noise(struct tk_doctor *d)
{
	const json_t *system = json_object_get(d->report, "system"),
	             *limits = json_object_get(d->report, "limits");
	const json_t *quota = json_object_get(limits, "cpus");
	double usable =
	        json_number_value(json_object_get(json_object_get(d->report, "cpu"), "usable"));

	advise_cpu(d);
	if (json_is_real(quota) && json_real_value(quota) < usable)
		tk_doctor_add_line(d, "advice",
		        "the control group allows %.2g CPUs: kernels are throttled when the quota "
		        "is spent",
		        json_real_value(quota));
	if (json_is_true(json_object_get(system, "virtual")))
		tk_doctor_add_line(d, "advice",
		        "virtual machine: host clocks and other guests are invisible; rely on the "
		        "control problem");
	if (!tk_doctor_has_tool(d, "ccache"))
		tk_doctor_add_line(d, "advice",
		        "ccache is not installed: building neighbouring revisions takes longer");
}
