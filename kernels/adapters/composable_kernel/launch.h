/* How both kinds of kernels launch: the library throws what it refuses. */
#ifndef CK_LAUNCH_H
#define CK_LAUNCH_H
#include <exception>
#include <hip/hip_runtime.h>
#include <stdio.h>

/* launch() returns why nothing was launched, or nullptr; so does this, and the error of HIP. */
template <class Launch> const char *try_launch(const Launch &launch)
{
	try {
		if (const char *refusal = launch())
			return refusal;
	} catch (const std::exception &e) {
		static thread_local char text[256];
		snprintf(text, sizeof text, "%s", e.what());
		return text;
	}
	const hipError_t error = hipGetLastError();
	return error == hipSuccess ? nullptr : hipGetErrorString(error);
}

#endif
