#include "base/base.h"

#include <unistd.h>

#include "base/process.h"

/* An agent may ask for a confirmation, a token for a touch. */
#define DEADLINE_S 60.0

/* input NULL: none. out (may be NULL): stdout. A refusal of ssh-keygen is `refusal`. */
static int run_ssh_keygen(const char *const *argv, const char *input, enum tk_status refusal,
        struct tk_buf *out, struct tk_error *err)
{
	struct tk_process_spec spec = {
	        .argv = argv, .stdin_path = input, .deadline_s = DEADLINE_S, .for_network = true};
	AUTO(tk_process_result) result = {0};
	int status = tk_process_run(&spec, &result, err);

	if (!status && (status = tk_process_check(&spec, &result, err)))
		status = err->status = refusal;
	if (!status && out)
		tk_buf_add(out, result.out.data, result.out.len);
	return status;
}

/* ---- signing --------------------------------------------------------------------------------- */

int tk_signature_write(const char *key, const char *path, struct tk_error *err)
{
	const char *const argv[] = {"ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n",
	        TK_SIGNATURE_NAMESPACE, "--", path, NULL};
	AUTO_TEXT signature = tk_sprintf("%s.sig", path);

	if (!key)
		return TK_OK;
	unlink(signature); /* ssh-keygen would ask whether to replace it */
	int status = run_ssh_keygen(argv, NULL, TK_EIO, NULL, err);
	return status ? tk_error_add_context(err, "cannot sign %s with %s", path, key) : TK_OK;
}

/* ---- verifying ------------------------------------------------------------------------------- */

/* The first name that allowed_signers has for the key of the signature. Caller frees. */
static int find_signer(
        const char *allowed_signers, const char *signature, char **signer, struct tk_error *err)
{
	const char *const argv[] = {"ssh-keygen", "-Y", "find-principals", "-s", signature, "-f",
	        allowed_signers, NULL};
	AUTO(tk_buf) out = TK_BUF_INIT;
	TRY(run_ssh_keygen(argv, NULL, TK_EDATA, &out, err));
	TRY(tk_buf_status(&out, err));
	*signer = tk_strndup(tk_buf_cstr(&out), strcspn(tk_buf_cstr(&out), ",\n"));
	return TK_OK;
}

static int verify(
        const char *allowed_signers, const char *path, const char *signature, struct tk_error *err)
{
	AUTO_TEXT signer = NULL;
	int status = find_signer(allowed_signers, signature, &signer, err);

	if (status)
		return tk_error_add_context(
		        err, "%s: no signer of %s made %s", path, allowed_signers, signature);
	const char *const argv[] = {"ssh-keygen", "-Y", "verify", "-f", allowed_signers, "-I",
	        signer, "-n", TK_SIGNATURE_NAMESPACE, "-s", signature, NULL};

	status = run_ssh_keygen(argv, path, TK_EDATA, NULL, err);
	if (status)
		tk_error_add_context(
		        err, "%s: %s is not a signature of this content", path, signature);
	else
		tk_log(TK_LOG_INFO, "verify", NULL, "%s: signed by %s", path, signer);
	return status;
}

int tk_signature_verify(const char *allowed_signers, const char *path, struct tk_error *err)
{
	AUTO_TEXT signature = tk_sprintf("%s.sig", path);

	if (!allowed_signers)
		return TK_OK;
	if (!tk_file_exists(allowed_signers))
		return tk_fail(err, TK_ENOTFOUND,
		        "%s: no such file; expected the signers that signing.allowed_signers names",
		        allowed_signers);
	if (!tk_file_exists(signature))
		return tk_fail(err, TK_EDATA,
		        "%s: is not signed: %s is missing, and signing.allowed_signers is set",
		        path, signature);
	return verify(allowed_signers, path, signature, err);
}
