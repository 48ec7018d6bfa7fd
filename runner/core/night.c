#include "core/night.h"

#define DEFINE(stem, subject, LIST) \
	TK_VOCABULARY_DEFINE(stem, subject, LIST, TK_VOCABULARY_WORD); \
	TK_VOCABULARY_FUNCTIONS(stem)
#define DEFINE_NAMES(stem, subject, LIST) \
	TK_VOCABULARY_DEFINE(stem, subject, LIST, TK_VOCABULARY_WORD); \
	TK_VOCABULARY_NAME(stem)

DEFINE(night_kind, "night kind", TK_NIGHT_KINDS);
DEFINE_NAMES(night_status, "night status", TK_NIGHT_STATUSES);
DEFINE_NAMES(stage, "stage", TK_STAGES);
DEFINE_NAMES(stage_status, "stage status", TK_STAGE_STATUSES);
DEFINE_NAMES(resolution_status, "status of an upstream", TK_RESOLUTION_STATUSES);
DEFINE(build_status, "build status", TK_BUILD_STATUSES);
