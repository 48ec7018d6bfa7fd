/* Memory that another process maps by a descriptor, through the driver's virtual memory functions:
 * unlike the handles of cudaIpcGetMemHandle() a descriptor crosses namespaces. The driver is found
 * when it is first needed, so that the module loads without one. */
#include "device.h"
#include <cuda.h>
#include <stdint.h>

#define FUNCTIONS(X) \
	X(cuMemGetAllocationGranularity) \
	X(cuMemCreate) \
	X(cuMemRelease) \
	X(cuMemExportToShareableHandle) \
	X(cuMemImportFromShareableHandle) \
	X(cuMemAddressReserve) \
	X(cuMemAddressFree) \
	X(cuMemMap) \
	X(cuMemUnmap) \
	X(cuMemSetAccess)

static struct {
#define MEMBER(name) __typeof__(&name) name;
	FUNCTIONS(MEMBER)
} driver;

static int find(const char *name, void *to)
{
	enum cudaDriverEntryPointQueryResult result;
	return cudaGetDriverEntryPointByVersion(
	               name, (void **)to, 12000, cudaEnableDefault, &result) == cudaSuccess &&
	       result == cudaDriverEntryPointSuccess;
}

static int find_driver(void)
{
#define FIND(name) &&find(#name, &driver.name)
	return driver.cuMemSetAccess || (1 FUNCTIONS(FIND));
}

static CUmemAllocationProp properties(int device)
{
	return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
	        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
}

/* What the driver allocates at least; 0: it cannot. */
static size_t round_up(int device, size_t bytes)
{
	size_t unit = 0;
	const CUmemAllocationProp p = properties(device);
	if (!find_driver() || driver.cuMemGetAllocationGranularity(
	                              &unit, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
		return 0;
	return (bytes + unit - 1) / unit * unit;
}

/* Takes the allocation over: it lives as long as it is mapped somewhere. */
static CUresult map(
        int device, CUmemGenericAllocationHandle allocation, size_t bytes, CUdeviceptr *out)
{
	const CUmemAccessDesc access = {.location = properties(device).location,
	        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUdeviceptr at = 0;
	CUresult code = driver.cuMemAddressReserve(&at, bytes, 0, 0, 0);
	if (!code && (code = driver.cuMemMap(at, bytes, 0, allocation, 0)))
		driver.cuMemAddressFree(at, bytes);
	driver.cuMemRelease(allocation);
	if (!code && (code = driver.cuMemSetAccess(at, bytes, &access, 1))) {
		driver.cuMemUnmap(at, bytes);
		driver.cuMemAddressFree(at, bytes);
	}
	*out = at;
	return code;
}

int vendor_share(int device, size_t bytes, void **out, int *fd)
{
	const CUmemAllocationProp p = properties(device);
	CUmemGenericAllocationHandle allocation;
	CUdeviceptr at = 0;
	size_t all = round_up(device, bytes);
	if (!all)
		return CUDA_ERROR_NOT_SUPPORTED;
	CUresult code = driver.cuMemCreate(&allocation, all, &p, 0);
	if (code)
		return (int)code;
	code = driver.cuMemExportToShareableHandle(
	        fd, allocation, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	if (code)
		driver.cuMemRelease(allocation);
	else
		code = map(device, allocation, all, &at);
	*out = (void *)(uintptr_t)at;
	return (int)code;
}

int vendor_attach(int device, int fd, size_t bytes, void **out)
{
	CUmemGenericAllocationHandle allocation;
	CUdeviceptr at = 0;
	size_t all = round_up(device, bytes);
	if (!all)
		return CUDA_ERROR_NOT_SUPPORTED;
	CUresult code = driver.cuMemImportFromShareableHandle(
	        &allocation, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	if (!code)
		code = map(device, allocation, all, &at);
	*out = (void *)(uintptr_t)at;
	return (int)code;
}

void vendor_detach(int device, void *memory, size_t bytes)
{
	size_t all = round_up(device, bytes);
	if (!all)
		return;
	driver.cuMemUnmap((CUdeviceptr)(uintptr_t)memory, all);
	driver.cuMemAddressFree((CUdeviceptr)(uintptr_t)memory, all);
}
