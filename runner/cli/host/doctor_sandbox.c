/* What protects this machine from builds and backends, and what does not. */
#include "base/cgroup.h"
#include "base/sandbox.h"

#include "cli/host/doctor.h"

/* What code in the sandbox can still do; docs/explanation/sandbox.md has the whole table. */
static const char *const gaps[] = {
        [TK_SANDBOX_NONE] = "builds and backends run with all rights of this user: adapters and "
                            "backends are trusted code",
        [TK_SANDBOX_LIMITS] = "builds and backends can read and write all files of this user; only "
                              "network sockets and signals to the tracker are stopped",
        [TK_SANDBOX_LANDLOCK] = "builds and backends see the processes of this machine and can "
                                "connect to services on Unix sockets",
        [TK_SANDBOX_BUBBLEWRAP] = NULL,
};

void tk_doctor_check_sandbox(struct tk_doctor *d)
{
	enum tk_sandbox_method method = tk_sandbox_method();
	const char *no_groups = tk_cgroup_reason();

	json_object_set_new(d->report, "sandbox",
	        json_pack("{s:s, s:s, s:o}", "mode", tk_sandbox_mode_name(tk_sandbox_mode()),
	                "method", tk_sandbox_method_name(method), "reason",
	                tk_doctor_text(tk_sandbox_reason())));
	json_object_set_new(d->report, "control_groups",
	        json_pack("{s:b, s:o}", "available", !no_groups, "reason",
	                tk_doctor_text(no_groups ? no_groups : "")));
	if (gaps[method])
		tk_doctor_add_line(
		        d, "notes", "sandbox: %s (%s)", gaps[method], tk_sandbox_reason());
	if (!tk_sandbox_is_sufficient(method))
		tk_doctor_add_line(d, "missing",
		        "sandbox: required, and neither bubblewrap nor Landlock works here: %s",
		        tk_sandbox_reason());
}
