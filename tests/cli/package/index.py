#!/usr/bin/env python3
"""A package index for tests: index.py serve FOLDER prints its port and serves; index.py add FOLDER
VERSION KERNEL [yanked] [forged] [pth=FILE] [outside=FILE] [name=NAME] adds a wheel of `fake-pkg`
(or NAME), which holds the file KERNEL, and lists it; the upload time is a day in 2026 for each
version. Two attacks: a Python that finds the wheel makes the file of `pth`; the wheel has the file
of `outside`, by a path that leaves its folder.
"""

import base64
import hashlib
import http.server
import json
import os
import sys
import zipfile


def record(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d" % (name, digest, len(data))


def make_wheel(path, name, version, kernel, attacks):
    info = "%s-%s.dist-info/" % (name, version)
    metadata = (
        "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: Kernels for a test\nRequires-Dist:"
        " no-such-package\n" % (name, version)
    )
    files = {
        name + "/__init__.py": b"",
        name + "/kernel": open(kernel, "rb").read(),
        info + "METADATA": metadata.encode(),
        info
        + "WHEEL": (
            b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    if "pth" in attacks:
        files[name + ".pth"] = ("import os; os.system('>%s')\n" % attacks["pth"]).encode()
    if "outside" in attacks:
        files["../" * 20 + attacks["outside"].lstrip("/")] = b""
    files[info + "RECORD"] = "\n".join(
        [record(n, d) for n, d in files.items()] + [info + "RECORD,,", ""]
    ).encode()
    with zipfile.ZipFile(path, "w") as z:
        for name, data in files.items():
            z.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data)
    open(path + ".metadata", "w").write(metadata)


def add(folder, version, kernel, *flags):
    values = dict(flag.split("=", 1) for flag in flags if "=" in flag)
    name = values.get("name", "fake_pkg")
    project = name.replace("_", "-")
    page = os.path.join(folder, "simple", project, "index.json")
    os.makedirs(os.path.dirname(page), exist_ok=True)
    os.makedirs(os.path.join(folder, "files"), exist_ok=True)
    document = {"meta": {"api-version": "1.1"}, "name": project, "files": [], "versions": []}
    if os.path.exists(page):
        document = json.load(open(page))
    wheel = "%s-%s-py3-none-any.whl" % (name, version)
    path = os.path.join(folder, "files", wheel)
    make_wheel(path, name, version, kernel, values)
    content = open(path, "rb").read() + (b"forged" if "forged" in flags else b"")
    day = len(document["files"]) + 1
    document["files"].append(
        {
            "filename": wheel,
            "url": "../../files/" + wheel,
            "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
            "core-metadata": True,
            "yanked": "broken" if "yanked" in flags else False,
            "upload-time": "2026-11-%02dT12:00:00.5Z" % day,
            "size": len(content),
        }
    )
    document["versions"].append(version)
    json.dump(document, open(page, "w"))


class Handler(http.server.SimpleHTTPRequestHandler):
    def send_head(self):
        if self.path.endswith("/"):
            self.path += "index.json"
        return super().send_head()

    def guess_type(self, path):
        return (
            "application/vnd.pypi.simple.v1+json"
            if path.endswith(".json")
            else "application/octet-stream"
        )

    def log_message(self, *args):
        pass


if sys.argv[1] == "add":
    add(*sys.argv[2:])
else:
    os.chdir(sys.argv[2])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
