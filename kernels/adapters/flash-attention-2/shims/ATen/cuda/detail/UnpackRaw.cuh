/* See CUDAGeneratorImpl.h. */
#pragma once
#include <ATen/cuda/CUDAGeneratorImpl.h>
