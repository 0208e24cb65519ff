#ifndef CUV_OBJECTS_H
#define CUV_OBJECTS_H

// Has the Swift runtime count no more references of an object, which is never released then. Does
// nothing with a runtime that has no such call.
void cuv_object_immortalize(void *_Nonnull object);

#endif
