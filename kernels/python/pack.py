"""Writes a Python package, which the Python host measures: docs/reference/python-packages.md. Run
it with the Python that is to measure; of a virtual environment the packages in it are copied, so
that the result does not need it any more."""

import argparse
import compileall
import glob
import json
import os
import py_compile
import shutil
import sys
import sysconfig

sys.dont_write_bytecode = True
# What only installs packages.
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__",
    "pip",
    "pip-*",
    "setuptools",
    "setuptools-*",
    "_distutils_hack",
    "pkg_resources",
    "distutils-precedence.pth",
    "_virtualenv.*",
    "direct_url.json",
)


def clean_record(path):
    """Leaves out what names the folder of the installation: scripts, and where a wheel was."""
    with open(path, encoding="utf-8") as file:
        lines = [x for x in file if not x.startswith("..") and "/direct_url.json," not in x]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)


def copy_packages(to):
    for folder in dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
        shutil.copytree(folder, to, ignore=LEFT_OUT, dirs_exist_ok=True)
    for record in glob.glob(os.path.join(to, "*.dist-info", "RECORD")):
        clean_record(record)
    # Without times: the same packages give the same files.
    compileall.compile_dir(
        to, quiet=2, stripdir=to, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )


def find_version(name):
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument(
        "out", help="folder to make: tk_backend_NAME.python-cpu or tk_backend_NAME.python-cuda"
    )
    p.add_argument("adapter", nargs="+", help="adapter.py, and the modules that it imports")
    p.add_argument("--package", required=True, help="the Python package whose version counts")
    p.add_argument(
        "--operations",
        default="",
        help="what the adapter does: gemm,attention,attention-backward,nsa",
    )
    p.add_argument(
        "--returns-outputs",
        action="store_true",
        help="the library makes its outputs itself; the adapter has fetch()",
    )
    p.add_argument(
        "--own-packages",
        action="store_true",
        help="copy nothing: use what is installed in this Python",
    )
    args = p.parse_args()

    os.makedirs(os.path.join(args.out, "adapter"))
    for file in args.adapter:
        shutil.copyfile(file, os.path.join(args.out, "adapter", os.path.basename(file)))
    if not args.own_packages:
        copy_packages(os.path.join(args.out, "site"))
    python = sys.executable if args.own_packages else os.path.realpath(sys.executable)
    host = {
        "format": 1,
        "producer": {"name": args.package, "version": find_version(args.package)},
        "python": python,
        "own_packages": args.own_packages,
        "returns_outputs": args.returns_outputs,
    }
    if args.operations:
        host["operations"] = args.operations.split(",")
    with open(os.path.join(args.out, "host.json"), "w", encoding="utf-8") as file:
        json.dump(host, file, indent=1)
        file.write("\n")


main()
