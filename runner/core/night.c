#include "core/night.h"
#include <jansson.h>

TK_VOCABULARY(night_kind, "night kind", TK_NIGHT_KINDS);
TK_VOCABULARY_WRITTEN(night_status, "night status", TK_NIGHT_STATUSES);
TK_VOCABULARY_WRITTEN(stage, "stage", TK_STAGES);
TK_VOCABULARY_WRITTEN(stage_status, "stage status", TK_STAGE_STATUSES);
TK_VOCABULARY_WRITTEN(resolution_status, "status of an upstream", TK_RESOLUTION_STATUSES);
TK_VOCABULARY(build_status, "build status", TK_BUILD_STATUSES);

bool tk_night_has_all_upstreams(const char *summary)
{
	json_t *o = json_loads(summary, 0, NULL);
	bool is_partial = json_object_get(json_object_get(o, "request"), "upstream") != NULL;

	json_decref(o);
	return !is_partial;
}
