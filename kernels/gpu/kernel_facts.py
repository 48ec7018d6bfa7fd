"""What GPU kernels are made of: registers, spills, shared memory, occupancy and instructions.

usage: kernel_facts.py PATH...      backends (tk_backend_NAME.so, .cuda, .hip) or folders of them

Writes tk_backend_NAME.facts.json beside each backend that has GPU code. Its keys are the SHA-256 of
a kernel's machine code, its values {"registers": of a thread (AMD: vector registers with
accumulators), "spill_bytes": of a thread, "shared_bytes": static, of a block, "threads": most of a
block, "occupancy_percent", "instructions": "total=816 LDL=143"}. A number that is not known is left
out. The vendors' tools read the containers: cuobjdump (code objects in a shared object), nvdisasm
(instructions), llvm-readelf (metadata of AMD); without one, what it would say is left out.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

COUNTED = """LDL STL HGMMA QGMMA IGMMA UTCHMMA UTCQMMA UTCIMMA HMMA QMMA OMMA IMMA DMMA UTMALDG
UTMASTG UBLKCP LDGSTS LDG STG LDS STS LDSM STSM ATOM RED BAR SYNCS SHFL MUFU FFMA HFMA2 CALL"""
DISASSEMBLED_MAX = 16 << 20  # bytes of code of a backend
DEADLINE_S = 120
BACKEND = re.compile(r"(tk_backend_[a-z0-9_-]+)\.(so|cuda|hip)")

# CUDA C++ Programming Guide, compute capabilities; Occupancy Calculator: warps, blocks and bytes of
# shared memory of a multiprocessor.
MULTIPROCESSORS = {
    80: (64, 32, 164 << 10),
    86: (48, 16, 100 << 10),
    87: (48, 16, 164 << 10),
    89: (48, 24, 100 << 10),
    90: (64, 32, 228 << 10),
    100: (64, 32, 228 << 10),
    103: (64, 32, 228 << 10),
    110: (48, 24, 228 << 10),
    120: (48, 24, 100 << 10),
    121: (48, 24, 100 << 10),
}
# LLVM, AMDGPUBaseInfo.cpp and GCNSubtarget.cpp: bytes of shared memory of a compute unit, and the
# unit in which they are given out.
COMPUTE_UNITS = {"gfx90a": (64 << 10, 512), "gfx942": (64 << 10, 512), "gfx950": (160 << 10, 1280)}


def run(*argv, cwd=None):
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=DEADLINE_S)
    return done.stdout if done.returncode == 0 else ""


def round_up(value, unit):
    return -(-value // unit) * unit


def nvidia_occupancy(arch, k):
    if arch not in MULTIPROCESSORS or not k.get("threads") or not k.get("registers"):
        return None
    most_warps, most_blocks, shared = MULTIPROCESSORS[arch]
    warps = -(-k["threads"] // 32)
    blocks = 4 * (16384 // round_up(32 * k["registers"], 256)) // warps
    blocks = min(blocks, most_warps // warps, shared // max(k["shared_bytes"], 1024), most_blocks)
    return 100 * blocks * warps // most_warps


def amd_occupancy(processor, k, scalars):
    if processor not in COMPUTE_UNITS or not k.get("threads") or "registers" not in k:
        return None
    shared, unit = COMPUTE_UNITS[processor]
    waves = -(-k["threads"] // 64)
    of_simd = min(8, 512 // round_up(max(k["registers"], 1), 8))
    if scalars > 100:  # 800 scalar registers, of which no wave needs more than 1/7
        of_simd = min(of_simd, 7)
    blocks = 4 * of_simd // waves
    if k.get("shared_bytes"):
        blocks = min(blocks, shared // round_up(k["shared_bytes"], unit))
    if waves > 1:
        blocks = min(blocks, 16)
    return 100 * blocks * waves // 32


class Elf:
    """Sections and symbols of a 64-bit code object."""

    def __init__(self, blob):
        at, size, count, names = *struct.unpack_from("<Q", blob, 40), *struct.unpack_from(
            "<HHH", blob, 58
        )
        rows = [struct.unpack_from("<IIQQQQIIQQ", blob, at + i * size) for i in range(count)]
        self.blob = blob
        self.rows = rows
        self.sections = {self.text(rows[names], r[0]): r for r in rows}

    def text(self, section, at):
        at += section[4]
        return self.blob[at : self.blob.index(b"\0", at)].decode(errors="replace")

    def bytes(self, section):
        return self.blob[section[4] : section[4] + section[5]]

    def symbols(self):
        """(name, type, section, value, size) of each."""
        for r in self.rows:
            if r[1] not in (2, 11):  # SHT_SYMTAB, SHT_DYNSYM
                continue
            for i in range(r[5] // 24):
                name, info, _, section, value, size = struct.unpack_from(
                    "<IBBHQQ", self.blob, r[4] + 24 * i
                )
                yield self.text(self.rows[r[6]], name), info & 15, section, value, size


def nvidia_records(data):
    """(attribute, bytes) of a section .nv.info, as `cuobjdump -elf` lists them."""
    at = 0
    while at + 4 <= len(data):
        kind, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if kind == 4:
            yield attribute, data[at : at + size]
            at += size


def read_cubin(blob, arch):
    """{name: (code, facts)}"""
    elf = Elf(blob)
    names = [s[0] for s in elf.symbols()]
    kernels = {}
    for name, row in elf.sections.items():
        if name.startswith(".text."):
            kernels[name[6:]] = (elf.bytes(row), {"shared_bytes": 0})
    for name, row in elf.sections.items():
        kernel = kernels.get(name.partition(".nv.shared.")[2])
        if kernel:
            kernel[1]["shared_bytes"] = row[5]
        if not name.startswith(".nv.info"):
            continue
        own = kernels.get(name[9:])
        for attribute, data in nvidia_records(elf.bytes(row)):
            if attribute in (0x2F, 0x11) and len(data) == 8:  # REGCOUNT, FRAME_SIZE
                symbol, value = struct.unpack("<II", data)
                kernel = kernels.get(names[symbol]) if symbol < len(names) else None
                if kernel:
                    kernel[1]["registers" if attribute == 0x2F else "spill_bytes"] = value
            elif own and attribute in (0x05, 0x10) and len(data) == 12:  # MAX_THREADS, REQNTID
                x, y, z = struct.unpack("<3I", data)
                own[1]["threads"] = x * y * z
    for code, facts in kernels.values():
        facts["occupancy_percent"] = nvidia_occupancy(arch, facts)
    return kernels


def read_amd(blob, processor, folder):
    """As read_cubin(), with the notes of the compiler as llvm-readelf prints them."""
    path = os.path.join(folder, "object")
    with open(path, "wb") as f:
        f.write(blob)
    elf = Elf(blob)
    functions = {s[0]: s for s in elf.symbols() if s[1] == 2}  # STT_FUNC
    kernels, facts, scalars = {}, {}, 0
    keys = {
        "vgpr_count": "registers",
        "private_segment_fixed_size": "spill_bytes",
        "group_segment_fixed_size": "shared_bytes",
        "max_flat_workgroup_size": "threads",
    }
    for line in run("llvm-readelf", "--notes", path).splitlines():
        # a kernel's own keys; those of its arguments are indented further
        at = re.match(r"( {2}- | {4})\.(\w+):\s*(\S*)", line)
        if not at:
            continue
        if at[1] == "  - ":
            facts, scalars = {}, 0
        if at[2] == "sgpr_count":
            scalars = int(at[3])
        elif at[2] in keys:
            facts[keys[at[2]]] = int(at[3])
        elif at[2] == "symbol":
            name = at[3].strip("'\"").removesuffix(".kd")
            if name in functions:
                _, _, section, value, size = functions[name]
                row = elf.rows[section]
                start = row[4] + value - row[3]
                kernels[name] = (blob[start : start + size], facts)
        facts["occupancy_percent"] = amd_occupancy(processor, facts, scalars)
    return kernels


def count_instructions(kernels, arch, folder):
    """All kernels of a processor in one file: starting nvdisasm takes longer than most kernels. It
    gets the machine code alone, so that kernels of a newer compiler than nvdisasm can be read."""
    path = os.path.join(folder, "code")
    starts, size = [], 0
    with open(path, "wb") as f:
        for code, facts in kernels:
            if size + len(code) <= DISASSEMBLED_MAX:
                starts.append((size, len(code), facts))
                size += f.write(code)
    counts = [dict() for _ in starts]
    place = 0
    processor = f"SM{arch}a" if arch >= 90 else f"SM{arch}"
    for line in run("nvdisasm", "-ndf", "-b", processor, path).splitlines():
        at = re.match(r"\s*/\*([0-9a-f]+)\*/\s*\{?\s*(?:@\S+\s+)?([A-Z0-9]+)", line)
        if not at:
            continue
        offset = int(at[1], 16)
        while offset >= starts[place][0] + starts[place][1]:
            place += 1
        c = counts[place]
        c["total"] = c.get("total", 0) + 1
        c[at[2]] = c.get(at[2], 0) + 1
    for (_, _, facts), c in zip(starts, counts):
        shown = [f"{n}={c[n]}" for n in ["total"] + COUNTED.split() if n in c]
        if shown:
            facts["instructions"] = " ".join(shown)


def unpack_bundles(section):
    """(processor, code object) of each image of .hip_fatbin: Clang documentation, "Clang Offload
    Bundler"."""
    at = 0
    while at + 24 <= len(section):
        if section.startswith(b"CCOB", at):
            version, method = struct.unpack_from("<HH", section, at + 4)
            size, head = (
                (struct.unpack_from("<I", section, at + 8)[0], 24)
                if version == 2
                else (struct.unpack_from("<Q", section, at + 8)[0], 32)
            )
            packed = section[at + head : at + size]
            if method == 1 and size > head:
                unpacked = subprocess.run(["zstd", "-dcq"], input=packed, capture_output=True)
                yield from unpack_bundles(unpacked.stdout)
            at += max(size, 8)
        elif section.startswith(b"__CLANG_OFFLOAD_BUNDLE__", at):
            count, end, entry = struct.unpack_from("<Q", section, at + 24)[0], 32, at + 32
            for _ in range(min(count, 256)):
                offset, size, length = struct.unpack_from("<QQQ", section, entry)
                name = section[entry + 24 : entry + 24 + length].decode(errors="replace")
                processor = re.search(r"-(gfx[0-9a-f]+)", name)
                if processor and size:
                    yield processor[1], section[at + offset : at + offset + size]
                end = max(end, offset + size)
                entry += 24 + length
            at += end
        at = round_up(at + 1, 8)


def open_regular(path, mode):
    """A FIFO in a build would keep an ordinary open() waiting."""
    how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if "w" in mode else os.O_RDONLY
    fd = os.open(path, how | os.O_NONBLOCK | os.O_NOFOLLOW, 0o666)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is not a regular file")
    return os.fdopen(fd, mode)


def objects_of(path, folder):
    """(processor, code object): "sm_90", "gfx942"."""
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            manifest = os.path.join(path, name)
            if not name.endswith(".json"):
                continue
            with open_regular(manifest, "r") as f:
                m = json.load(f)
            if "code_object" in m:
                code = os.path.join(path, os.path.basename(m["code_object"]))
                with open_regular(code, "rb") as f:
                    yield m.get("target", ""), f.read()
        return
    with open_regular(path, "rb") as f:
        blob = f.read()
    if b".nv_fatbin" in blob and shutil.which("cuobjdump"):
        run("cuobjdump", "-xelf", "all", path, cwd=folder)
        for name in sorted(os.listdir(folder)):
            at = re.search(r"\.(sm_\d+)[a-z]?\.cubin$", name)
            if at:
                with open(os.path.join(folder, name), "rb") as f:
                    yield at[1], f.read()
    if b".hip_fatbin" in blob:
        elf = Elf(blob)
        yield from unpack_bundles(elf.bytes(elf.sections[".hip_fatbin"]))


def read_backend(path, folder):
    facts, by_arch = {}, {}
    for processor, blob in objects_of(path, folder):
        at = re.match(r"sm_(\d+)", processor)
        found = read_cubin(blob, int(at[1])) if at else read_amd(blob, processor, folder)
        for code, k in found.values():
            digest = hashlib.sha256(code).hexdigest()
            if digest in facts:
                continue
            facts[digest] = k
            if at:
                by_arch.setdefault(int(at[1]), []).append((code, k))
    if shutil.which("nvdisasm"):
        for arch, kernels in by_arch.items():
            count_instructions(kernels, arch, folder)
    return {d: {n: v for n, v in k.items() if v is not None} for d, k in facts.items()}


def main(paths):
    for path in paths:
        path = os.path.abspath(path)  # cuobjdump runs in another folder
        inside = os.path.isdir(path) and not BACKEND.fullmatch(os.path.basename(path))
        for backend in (
            [os.path.join(path, n) for n in sorted(os.listdir(path))] if inside else [path]
        ):
            at = BACKEND.fullmatch(os.path.basename(backend))
            if not at:
                continue
            with tempfile.TemporaryDirectory() as temp:
                try:
                    facts = read_backend(backend, temp)
                except (ValueError, OSError, struct.error, IndexError, KeyError) as e:
                    print(f"kernel facts: {backend}: {e}", file=sys.stderr)
                    continue
            if facts:
                out = os.path.join(os.path.dirname(backend), at[1] + ".facts.json")
                with open_regular(out, "w") as f:
                    json.dump(facts, f, indent=1, sort_keys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
