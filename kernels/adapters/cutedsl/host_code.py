"""What the host code that CuTe DSL compiled beside a kernel would launch: read from its LLVM
dialect text, because running it needs a driver.

The host code fills in a launch configuration and, for each tensor map, a CUtensorMap of 16 words.
Both are sequences of stores of constants.
"""

import re

TYPES = {6: "f16", 10: "bf16"}
SWIZZLES = (0, 32, 64, 128)


def host_function(text, name):
    start = re.search(r"llvm\.func @%s\(" % re.escape(name), text)
    if not start:
        raise RuntimeError("the compiled module has no host function")
    return text[start.start() : text.index("\n  }\n", start.start())]


class Stores:
    """Constants that a function stores into its own variables: {variable: {(index, ...): value}} in
    the order of the variables."""

    def __init__(self, function):
        constants = {
            n: int(v)
            for n, v in re.findall(r"(%\d+) = llvm\.mlir\.constant\((-?\d+) : i\d+\)", function)
        }
        elements = {
            e: (v, tuple(int(x) for x in i.split(", ") if x.isdigit()))
            for e, v, i in re.findall(r"(%\d+) = llvm\.getelementptr (%\d+)\[([^\]]*)\]", function)
        }
        self.types = dict(
            re.findall(r"(%\d+) = llvm\.alloca %\d+ x (\S.*?) (?:\{.*\} )?: \(", function)
        )
        self.values = {variable: {} for variable in self.types}
        for value, place in re.findall(r"llvm\.store (%\w+), (%\d+) :", function):
            variable, index = elements.get(place, (place, ()))
            if variable in self.values:
                self.values[variable][index] = constants.get(value)

    def of_type(self, prefix):
        return [
            self.values[variable]
            for variable, kind in self.types.items()
            if kind.startswith(prefix)
        ]


def three(values, member):
    return [values.get((0, member, i)) for i in range(3)]


def tensor_map(stored):
    """dims, strides, box and swizzle as cuTensorMapEncodeTiled takes them, from the first 8 words
    of a CUtensorMap; word 0 is the address."""
    words = [stored.get((0, i)) for i in range(1, 8)]
    if None in words or words[2]:
        raise RuntimeError(
            "the host code computes a tensor map, or one with strides of over 64 GiB"
        )
    half = [
        w >> shift & 0xFFFFFFFF for w in words for shift in (0, 32)
    ]  # half[0] belongs to word 1
    kind, rank = half[0] >> 7 & 15, (half[0] >> 4 & 7) + 1
    if kind not in TYPES:
        raise RuntimeError("a tensor map of an unknown type: %d" % kind)
    box = [words[5] >> 56 & 255] + [words[6] >> 8 * i & 255 for i in range(4)]
    return {
        "type": TYPES[kind],
        "dims": [x + 1 for x in half[6 : 6 + rank]],
        "strides_bytes": [16 * x for x in half[1:rank]],
        "box": [x + 1 for x in box[:rank]],
        "swizzle": SWIZZLES[half[0] >> 13 & 3],
    }


def read(text, name):
    """(launch without arguments and cluster, [tensor map])"""
    stores = Stores(host_function(text, name))
    (config,) = stores.of_type("!llvm.struct<(array<3 x i32>, array<3 x i32>, i64, ptr, ptr, i32)>")
    launch = {
        "grid": three(config, 0),
        "block": three(config, 1),
        "shared_bytes": config.get((0, 2)),
    }
    if None in launch["grid"] + launch["block"] + [launch["shared_bytes"]]:
        raise RuntimeError("the host code computes the size of its launch")
    return launch, [tensor_map(words) for words in stores.of_type("i64")]
