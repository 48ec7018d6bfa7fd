#include "core/tune_rule.h"
