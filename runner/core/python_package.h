#include "core/kernel_package.h"
