#ifndef CUV_OBJECTS_H
#define CUV_OBJECTS_H

#include "cuv_linkage.h"

CUV_BEGIN

// Tells the Swift runtime to stop counting an object's references: it is never released then. Does
// nothing with a runtime that has no such call.
void cuv_object_immortalize(void *_Nonnull object);

CUV_END

#endif
