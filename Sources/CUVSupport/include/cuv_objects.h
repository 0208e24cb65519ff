#ifndef CUV_OBJECTS_H
#define CUV_OBJECTS_H

// Has the Swift runtime count no more references of an object, which is never released then.
// Nothing may refer weakly to it yet. Does nothing with a runtime that has no such call.
void cuv_object_immortalize(void *_Nonnull object);

#endif
