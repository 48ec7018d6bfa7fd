/* A compiled kernel package in a real worker: the launcher of its kind is loaded, here one with a
 * driver that computes nothing. */
#include "base/file.h"
#include "base/hash.h"
#include "worker_rig.h"

#define CANONICAL "gemm:a=f32,acc=f32,b=f32,c=f32,k=16,m=16,n=16,ta=n,tb=n"

static char *write_package(void)
{
	static const char code[64] = "\177ELF";
	char hex[TK_HASH_HEX_SIZE], text[1000];
	char *dir = tk_path_join(rig_folder, "tk_backend_toy.null"),
	     *manifest = tk_path_join(dir, "a.json"), *object = tk_path_join(dir, "a.cubin");
	tk_hash_bytes(code, sizeof code, hex);
	snprintf(text, sizeof text,
	        "{\"format\":1,\"producer\":{\"name\":\"toy\",\"version\":\"1\"},\"target\":\"any\""
	        ",\"problem\":\"" CANONICAL "\",\"configuration\":\"only\",\"code_object\":\"a."
	        "cubin\",\"sha256\":\"%s\",\"launches\":[{\"entry\":\"toy\",\"grid\":[1,1,1],"
	        "\"block\":[1,1,1],\"shared_bytes\":0,\"args\":[{\"tensor\":\"A\"},{\"tensor\":"
	        "\"C\"}]}]}",
	        hex);
	assert_int_equal(tk_dir_create(dir, NULL), 0);
	assert_int_equal(tk_file_write(object, code, sizeof code, NULL), 0);
	assert_int_equal(tk_file_write(manifest, text, strlen(text), NULL), 0);
	free(object);
	free(manifest);
	return dir;
}

static void a_package_is_measured_by_the_launcher(void **state)
{
	char *package = write_package();
	struct tk_worker *w = worker_with((struct tk_worker_spec){.modules_dir = TK_LAUNCHER_DIR});
	struct tk_job_request r = request("");
	json_t *about = NULL;
	struct tk_error err = {0};
	if (tk_worker_query_backend(w, package, &about, &err))
		fail_msg("%s", err.message);
	assert_string_equal(json_string_value(json_object_get(about, "name")), "launcher_stub");
	assert_string_equal(json_string_value(json_object_get(about, "device_kind")), "null");
	json_decref(about);
	r.backend_path = package;
	run(w, &r, "wrong", ""); /* it was launched, and has computed nothing */
	r.config = "other";
	run(w, &r, "failed", "unknown configuration \"other\"");
	r.config = NULL;
	r.problem = "gemm:m=17,n=16,k=16";
	run(w, &r, "unsupported", "the package has no kernel for this problem");
	tk_worker_free(w);
	free(package);
}

static void a_missing_launcher_is_named(void **state)
{
	char *package = write_package();
	struct tk_worker *w = worker_with((struct tk_worker_spec){.modules_dir = rig_folder});
	struct tk_job_request r = request("");
	r.backend_path = package;
	run(w, &r, "failed", "tk_backend_launcher_null.so");
	tk_worker_free(w);
	free(package);
}

static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_package_is_measured_by_the_launcher),
        cmocka_unit_test(a_missing_launcher_is_named),
};

RIG_MAIN(tests)
