/* SSH signatures of files that leave the machine: `ssh-keygen -Y` writes PATH.sig beside the file,
 * for the namespace TK_SIGNATURE_NAMESPACE. */
#ifndef TK_BASE_SIGNATURE_H
#define TK_BASE_SIGNATURE_H

struct tk_error;

#define TK_SIGNATURE_NAMESPACE "tracker"

/* Writes PATH.sig, and replaces one that is there. key: a file with a private key, or with a public
 * one whose private key the SSH agent has; NULL: does nothing. */
int tk_signature_write(const char *key, const char *path, struct tk_error *err);

/* TK_OK if PATH.sig belongs to the content of the file and its key is in `allowed_signers`, a file
 * as ssh-keygen(1) describes it, and logs who signed. NULL: accepts every file. TK_EDATA: the
 * signature is missing, malformed, of another key or of other content. The file must not change
 * between this and its use. */
int tk_signature_verify(const char *allowed_signers, const char *path, struct tk_error *err);

#endif
