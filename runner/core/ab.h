#include "core/vocabulary.h"
