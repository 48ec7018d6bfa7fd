"""The work of one call of a compiled JAX program as a CUDA graph.

XLA has streams of its own and cannot be told to use another one. So a handler of XLA's foreign
function interface is the last step of the program: it learns the stream, and ends the capture that
began before the call. What XLA does after the program, for its own books, stays outside of the
graph. Structures: xla/ffi/api/c_api.h of jaxlib (`jax.ffi.include_dir()`).
"""

import ctypes
import functools

import jax
import jax.numpy as jnp

cuda = ctypes.CDLL("libcuda.so.1")
Pointer = ctypes.c_void_p
RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: XLA may allocate memory meanwhile
METADATA = 1  # XLA_FFI_Extension_Metadata


class Version(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extensions", Pointer),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
    ]


class Metadata(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", Version), ("traits", ctypes.c_uint32)]


class Extension(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("next", Pointer),
        ("metadata", ctypes.POINTER(Metadata)),  # only of that type
    ]


class Api(ctypes.Structure):  # its beginning
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extensions", Pointer),
        ("version", Version),
        ("internal", Pointer),
        ("errors", Pointer * 3),
        ("register", Pointer),
        ("get_stream", Pointer),
    ]


class Call(ctypes.Structure):  # its beginning
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extensions", ctypes.POINTER(Extension)),
        ("api", ctypes.POINTER(Api)),
        ("context", Pointer),
    ]


class StreamRequest(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extensions", Pointer),
        ("context", Pointer),
        ("stream", Pointer),
    ]


stream = None  # XLA's, known after the first call
graph = None  # what the last capture gave; None while none has ended


def check(code, what):
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError("%s: %s" % (what, (text.value or b"unknown error").decode()))


def find_stream(call):
    request = StreamRequest(ctypes.sizeof(StreamRequest), None, call.context, None)
    get = ctypes.CFUNCTYPE(Pointer, ctypes.POINTER(StreamRequest))(call.api.contents.get_stream)
    return None if get(ctypes.byref(request)) else request.stream


def end_capture():
    global graph
    captured = Pointer()
    code = cuda.cuStreamEndCapture(Pointer(stream), ctypes.byref(captured))
    graph = captured.value
    return code


def is_capturing():
    state = ctypes.c_int()
    check(cuda.cuStreamIsCapturing(Pointer(stream), ctypes.byref(state)), "stream")
    return state.value != 0


@ctypes.CFUNCTYPE(Pointer, ctypes.POINTER(Call))
def last_step(pointer):
    """Never raises: an exception has no way through XLA."""
    global stream
    call = pointer.contents
    if call.extensions and call.extensions.contents.type == METADATA:
        answer = call.extensions.contents.metadata.contents
        version = call.api.contents.version
        answer.version.major, answer.version.minor = version.major, version.minor
        answer.traits = 0
        return None
    found = find_stream(call)
    if stream is None:
        stream = found
    elif found == stream and is_capturing():
        end_capture()
    return None


jax.ffi.register_ffi_target("tracker_last_step", jax.ffi.pycapsule(last_step), platform="CUDA")


def compile(function, out, inputs):
    """A program that writes the memory of `out`, which the caller gives away with each call."""

    def program(out, *inputs):
        result = function(*inputs)
        shape = jax.ShapeDtypeStruct(result.shape, result.dtype)
        return jax.ffi.ffi_call(
            "tracker_last_step", shape, has_side_effect=True, input_output_aliases={0: 0}
        )(result)

    return jax.jit(program, donate_argnums=0, keep_unused=True).lower(out, *inputs).compile()


class TemporaryMemory:
    """XLA gives a program its temporary memory anew for each call, but a graph always uses that of
    the call it was captured from. So nothing else may ever be there: between the calls this holds
    memory of the same size, which the allocator gives in the same place."""

    def __init__(self):
        self.held, self.size = None, 0

    def release(self):
        self.held = None

    def hold(self, size):
        self.size = max(self.size, size)
        if self.size:
            self.held = jnp.zeros(self.size, jnp.uint8).block_until_ready()


temporary = TemporaryMemory()


class Captured:
    """`graph` is the work of one call; each replay writes `result`, a JAX array."""

    def __init__(self, program, out, inputs):
        global graph
        place = out.unsafe_buffer_pointer()
        call = functools.partial(self.run, program, inputs)
        temporary.release()
        try:
            out = call(out)  # loads the kernels; tells the stream
            graph = None
            check(cuda.cuStreamBeginCapture_v2(Pointer(stream), RELAXED), "capture")
            try:
                out = call(out)
            finally:
                if is_capturing():  # the program did not come to its last step
                    end_capture()
        finally:
            temporary.hold(program.memory_analysis().temp_size_in_bytes)
        if out.unsafe_buffer_pointer() != place or not graph:
            raise RuntimeError("XLA did not write the memory that it was given")
        self.graph, self.result, self.inputs = graph, out, inputs

    @staticmethod
    def run(program, inputs, out):
        return program(out, *inputs).block_until_ready()

    def __del__(self):
        if hasattr(self, "graph"):
            cuda.cuGraphDestroy(Pointer(self.graph))


def share(tensor):
    """A JAX array in the tracker's memory."""
    array = jnp.asarray(tensor)
    if array.unsafe_buffer_pointer() != tensor.pointer:
        raise RuntimeError("JAX copied %s, expected it to share the memory" % tensor.name)
    return array


def copy(array, output):
    source = array.unsafe_buffer_pointer()
    size = ctypes.c_size_t(output.nbytes)
    check(
        cuda.cuMemcpyDtoD_v2(ctypes.c_uint64(output.pointer), ctypes.c_uint64(source), size), "copy"
    )
    check(cuda.cuCtxSynchronize(), "copy")
