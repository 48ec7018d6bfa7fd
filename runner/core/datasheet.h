#include "core/limits.h"
