/* What a build says of itself, and whether its backends can be loaded. */
#include "base/base.h"
#include "build/build_internal.h"
#include <fcntl.h>

/* ---- instances.txt: "NAME ok|failed SECONDS s: REASON", one kernel a line ---- */

char *tk_build_count_instances(struct tk_artifact *a, const char *dir)
{
	AUTO_TEXT path = tk_path_join(dir, "instances.txt"), *line = NULL, *first = NULL;
	char name[128], how[8];
	size_t size = 0;
	int fd = tk_file_open_regular(AT_FDCWD, path, NULL);
	FILE *f = fd < 0 ? NULL : tk_check_memory(fdopen(fd, "r"));
	while (f && getline(&line, &size, f) >= 0) {
		const bool is_line = sscanf(line, "%127s %7s", name, how) == 2;
		const bool is_built = is_line && !strcmp(how, "ok");
		if (!is_built && (!is_line || strcmp(how, "failed")))
			continue;
		a->instance_count++;
		a->instances_built += is_built;
		const char *reason = strstr(line, " s: ");
		if (!is_built && !first)
			first = tk_sprintf("%s: %.*s", name,
			        (int)strcspn(reason ? reason + 4 : "", "\n"),
			        reason ? reason + 4 : "");
	}
	if (f)
		fclose(f);
	return first ? tk_sprintf("%lld of %lld kernels; %s", (long long)a->instances_built,
	                       (long long)a->instance_count, first)
	             : tk_strdup("");
}

/* ---- the interface of the revision ---- */

char *tk_build_read_unknown_interface(const char *dir)
{
	AUTO_TEXT path = tk_path_join(dir, "unknown_interface");
	char line[1024] = "", clean[1024];
	int fd = tk_file_open_regular(AT_FDCWD, path, NULL);
	FILE *f = fd < 0 ? NULL : tk_check_memory(fdopen(fd, "r"));
	if (f && fscanf(f, "%1023[^\n]", line) != 1)
		snprintf(line, sizeof line, "looked for nothing that it names");
	if (f)
		fclose(f);
	tk_text_copy_line(clean, sizeof clean, line);
	return tk_strdup(clean);
}

/* ---- the loader ---- */

/* Libraries that come with the driver of a GPU: a machine that only builds has none. */
static bool is_of_driver(const char *library)
{
	static const char *const names[] = {"libcuda.so", "libnvidia-", "libnvcuvid.so",
	        "libamdhip64.so", "libhsa-runtime64.so"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(library, names[i], strlen(names[i])))
			return true;
	return false;
}

int tk_build_check_loader(char *answer, const char *file, struct tk_error *err)
{
	char word[256], library[256] = "", symbol[256] = "", version[256] = "";
	bool lacks_driver = false;
	for (char *line, *rest = answer; (line = strsep(&rest, "\n"));) {
		const char *version_at = strstr(line, "version `");
		if (strstr(line, " => not found") && sscanf(line, "%255s", word) == 1) {
			if (is_of_driver(word))
				lacks_driver = true;
			else
				memcpy(library, word, sizeof word);
		} else if (sscanf(line, "undefined symbol: %255[^, \t]", word) == 1) {
			memcpy(symbol, word, sizeof word);
		} else if (version_at && strstr(line, "not found")) {
			snprintf(version, sizeof version, "%s", version_at);
		}
	}
	if (*library)
		return tk_fail(err, TK_EDATA,
		        "%s cannot be loaded: it needs %s, which is neither beside it nor "
		        "installed",
		        file, library);
	if (*version)
		return tk_fail(err, TK_EDATA, "%s cannot be loaded: %s", file, version);
	if (*symbol && !lacks_driver)
		return tk_fail(err, TK_EDATA,
		        "%s cannot be loaded: undefined symbol %s; none of the libraries that it "
		        "is "
		        "linked with has it",
		        file, symbol);
	return TK_OK;
}
