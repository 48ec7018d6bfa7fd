"""What a cubin says about the parameters of its kernels, read from the ELF: no CUDA tools are
needed."""

import struct

from package import CompileError

KERNEL_PARAMETER = 0x17  # attribute of .nv.info.KERNEL: index, ordinal, offset, size
SIZED = 4  # records that are followed by as many bytes as they say


def sections(code):
    """{name: bytes} of an ELF of 64 bits."""
    if code[:5] != b"\x7fELF\x02":
        raise ValueError("not an ELF of 64 bits")
    (table,) = struct.unpack_from("<Q", code, 40)
    size, count, names = struct.unpack_from("<HHH", code, 58)
    rows = [struct.unpack_from("<IIQQQQ", code, table + i * size) for i in range(count)]
    strings = rows[names][4]
    out = {}
    for name, kind, _, _, at, length in rows:
        text = code[strings + name : code.index(b"\0", strings + name)].decode()
        out[text] = b"" if kind == 8 else code[at : at + length]
    return out


def kernel_parameters(code, kernel):
    """The sizes of the parameters of a kernel, in their order."""
    info = sections(code)[".nv.info." + kernel]
    found, at = {}, 0
    while at < len(info):
        form, attribute, length = struct.unpack_from("<BBH", info, at)
        at += 4
        if form != SIZED:
            continue
        if attribute == KERNEL_PARAMETER:
            _, ordinal, _, flags = struct.unpack_from("<IHHI", info, at)
            found[ordinal] = flags >> 18
        at += length
    return [found[i] for i in sorted(found)]


def check_parameters(code, kernel, sizes):
    """Raises CompileError where the parameters of a kernel do not have the sizes that a manifest
    gives them."""
    found = kernel_parameters(code, kernel)
    if found != sizes:
        raise CompileError(
            "the code object has parameters of %s bytes, expected %s" % (found, sizes)
        )
