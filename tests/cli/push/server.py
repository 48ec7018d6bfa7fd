#!/usr/bin/env python3
"""An HTTP server with files, for tests of `tracker push` and `pull`:  server.py FOLDER [PORT]

Prints its port. PUT and GET of /plain/... as they are; of /BUCKET/... only with a signature of
AWS's version 4, which it computes for itself (the key is "key", the secret "secret"), and the list
of a bucket. A file appears only when all of it has arrived and its hash is the one that was signed.

FOLDER/faults has what goes wrong with the next requests, a word a line: "503"; "cut": the
connection ends in the middle of the request's or the answer's body; "moved": a redirect to
/plain/moved. FOLDER/log gets a line for each request that was answered, with the session token that
came with it."""

import hashlib
import hmac
import os
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER = sys.argv[1]
FILES = os.path.join(FOLDER, "files")
FAULTS = os.path.join(FOLDER, "faults")


def take_fault():
    try:
        with open(FAULTS) as f:
            lines = f.read().split()
    except FileNotFoundError:
        return ""
    with open(FAULTS, "w") as f:
        f.write("\n".join(lines[1:]))
    return lines[0] if lines else ""


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def finish_request(self, code, body=b"", cut=None):
        with open(os.path.join(FOLDER, "log"), "a") as f:
            token = self.headers.get("x-amz-security-token", "")
            f.write("%s %s %d %s\n" % (self.command, self.path, code, token))
        self.send_response(code)
        if code == 307:
            self.send_header("Location", "/plain/moved.tar.zst")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True

    def expected_signature(self, scope, names):
        path, _, query = self.path.partition("?")
        headers = "".join("%s:%s\n" % (n, " ".join(self.headers[n].split())) for n in names)
        pairs = sorted(query.split("&")) if query else []
        canonical = "\n".join([self.command, path, "&".join(pairs), headers, ";".join(names)])
        canonical += "\n" + self.headers["x-amz-content-sha256"]
        text = "\n".join(["AWS4-HMAC-SHA256", self.headers["x-amz-date"], "/".join(scope)])
        text += "\n" + hashlib.sha256(canonical.encode()).hexdigest()
        key = b"AWS4secret"
        for part in scope:
            key = sign(key, part)
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

    def is_allowed(self):
        if self.path.startswith("/plain/"):
            return True
        given = self.headers.get("Authorization", "")
        if not given.startswith("AWS4-HMAC-SHA256 "):
            return False
        parts = dict(p.strip().split("=", 1) for p in given.split(" ", 1)[1].split(","))
        key, *scope = parts["Credential"].split("/")
        names = parts["SignedHeaders"].split(";")
        must = {"host", "x-amz-date", "x-amz-content-sha256"}
        if (
            key != "key"
            or not must <= set(names)
            or scope[1:] != ["us-east-1", "s3", "aws4_request"]
        ):
            return False
        return hmac.compare_digest(self.expected_signature(scope, names), parts["Signature"])

    def do_PUT(self):
        length = int(self.headers["Content-Length"])
        fault = take_fault()
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(100)
            self.end_headers()
        if fault == "cut":
            self.rfile.read(length // 2)
            self.close_connection = True
            self.connection.close()
            return
        body = self.rfile.read(length)
        if fault == "503":
            return self.finish_request(503, b"slow down")
        if not self.is_allowed():
            return self.finish_request(403, b"<Code>SignatureDoesNotMatch</Code>")
        hash_ = self.headers.get("x-amz-content-sha256")
        if len(body) != length or (hash_ and hashlib.sha256(body).hexdigest() != hash_):
            return self.finish_request(400, b"<Code>BadDigest</Code>")
        path = FILES + self.path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".part", "wb") as f:
            f.write(body)
        os.replace(path + ".part", path)
        return self.finish_request(200)

    def do_GET(self):
        fault = take_fault()
        if fault == "503":
            return self.finish_request(503, b"slow down")
        if fault == "moved":
            return self.finish_request(307)
        if not self.is_allowed():
            return self.finish_request(403, b"<Code>SignatureDoesNotMatch</Code>")
        path, _, query = self.path.partition("?")
        if query:
            return self.finish_request(200, self.list(path, query))
        try:
            with open(FILES + path, "rb") as f:
                body = f.read()
        except OSError:
            return self.finish_request(404, b"<Code>NoSuchKey</Code>")
        return self.finish_request(200, body, len(body) // 2 if fault == "cut" else None)

    def list(self, path, query):
        prefix = urllib.parse.parse_qs(query).get("prefix", [""])[0]
        root = FILES + path
        keys = []
        for folder, _, names in os.walk(root):
            keys += [os.path.relpath(os.path.join(folder, n), root) for n in names]
        keys = sorted(k for k in keys if k.startswith(prefix) and "/" not in k[len(prefix) :])
        items = "".join(
            "<Contents><Key>%s</Key></Contents>" % k.replace("&", "&amp;") for k in keys
        )
        text = "<ListBucketResult><IsTruncated>false</IsTruncated>%s</ListBucketResult>" % items
        return text.encode()


port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
