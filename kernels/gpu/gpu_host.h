/* The host API of CUDA and HIP under common names, for C and C++: the device layer and the backends
 * are written once. TK_GPU_HIP on the compiler's command line selects one, so that no file includes
 * both vendors' headers. Only what is used is here; everything means the same on both. */
#ifndef TK_GPU_HOST_H
#define TK_GPU_HOST_H

#if TK_GPU_HIP
#include <hip/hip_runtime_api.h>
#define GPU_NAME(name) hip##name
#define gpu_properties hipDeviceProp_t
#else
#include <cuda_runtime_api.h>
#define GPU_NAME(name) cuda##name
#define gpu_properties struct cudaDeviceProp
#endif

typedef GPU_NAME(Error_t) gpu_error;
typedef GPU_NAME(Stream_t) gpu_stream;
typedef GPU_NAME(Event_t) gpu_event;
typedef GPU_NAME(Graph_t) gpu_graph;
typedef GPU_NAME(GraphExec_t) gpu_graph_exec;

#define GPU_SUCCESS GPU_NAME(Success)
#define GPU_ERROR_MEMORY GPU_NAME(ErrorMemoryAllocation)
#define GPU_ERROR_VALUE GPU_NAME(ErrorInvalidValue)
#define GPU_ERROR_NO_DEVICE GPU_NAME(ErrorNoDevice)

#define gpu_error_text GPU_NAME(GetErrorString)
#define gpu_error_name GPU_NAME(GetErrorName)
#define gpu_last_error GPU_NAME(GetLastError)
#define gpu_peek_error GPU_NAME(PeekAtLastError)

#define gpu_device_count GPU_NAME(GetDeviceCount)
#define gpu_device_set GPU_NAME(SetDevice)
#define gpu_device_properties GPU_NAME(GetDeviceProperties)
#define gpu_device_bus GPU_NAME(DeviceGetPCIBusId)
#define gpu_device_synchronize GPU_NAME(DeviceSynchronize)
#define gpu_driver_version GPU_NAME(DriverGetVersion)
#define gpu_runtime_version GPU_NAME(RuntimeGetVersion)

#define gpu_malloc(out, bytes) GPU_NAME(Malloc)((void **)(out), bytes)
#define gpu_free GPU_NAME(Free)
/* Memory of one process in another. */
#define gpu_ipc_handle GPU_NAME(IpcMemHandle_t)
#define gpu_ipc_handle_get GPU_NAME(IpcGetMemHandle)
#define gpu_ipc_open(out, handle) \
	GPU_NAME(IpcOpenMemHandle)(out, handle, GPU_NAME(IpcMemLazyEnablePeerAccess))
#define gpu_ipc_close GPU_NAME(IpcCloseMemHandle)
#define gpu_memory_info GPU_NAME(MemGetInfo)
#define gpu_memset GPU_NAME(Memset)
#define gpu_memset_async GPU_NAME(MemsetAsync)
#define gpu_memcpy GPU_NAME(Memcpy)
#define gpu_memcpy_async GPU_NAME(MemcpyAsync)
#define GPU_HOST_TO_DEVICE GPU_NAME(MemcpyHostToDevice)
#define GPU_DEVICE_TO_HOST GPU_NAME(MemcpyDeviceToHost)
#define GPU_DEVICE_TO_DEVICE GPU_NAME(MemcpyDeviceToDevice)

/* A stream that does not wait for the default one. */
#define gpu_stream_new(out) GPU_NAME(StreamCreateWithFlags)(out, GPU_NAME(StreamNonBlocking))
#define gpu_stream_free GPU_NAME(StreamDestroy)
#define gpu_stream_synchronize GPU_NAME(StreamSynchronize)

#define gpu_event_new GPU_NAME(EventCreate)
#define gpu_event_free GPU_NAME(EventDestroy)
#define gpu_event_record GPU_NAME(EventRecord)
#define gpu_event_synchronize GPU_NAME(EventSynchronize)
#define gpu_event_elapsed_ms GPU_NAME(EventElapsedTime)

#define gpu_capture_begin(stream) \
	GPU_NAME(StreamBeginCapture)(stream, GPU_NAME(StreamCaptureModeThreadLocal))
#define gpu_capture_end GPU_NAME(StreamEndCapture)
#define gpu_graph_free GPU_NAME(GraphDestroy)
#define gpu_graph_upload GPU_NAME(GraphUpload)
#define gpu_graph_launch GPU_NAME(GraphLaunch)
#define gpu_graph_exec_free GPU_NAME(GraphExecDestroy)
/* The two runtimes report errors through different parameters. */
#if TK_GPU_HIP
#define gpu_graph_instantiate(out, graph) hipGraphInstantiateWithFlags(out, graph, 0)
#else
#define gpu_graph_instantiate(out, graph) cudaGraphInstantiate(out, graph, 0)
#endif

#endif
