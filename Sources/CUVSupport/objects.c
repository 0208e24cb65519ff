// The Swift runtime's call for objects that are never released.

#include "cuv_objects.h"

// Exported by the runtime for its standard library. The declaration is weak, because a runtime may
// lack it; the linker resolves it, so it also works with a static copy of the runtime.
__attribute__((weak)) void _swift_stdlib_immortalize(void *_Nonnull object);

void cuv_object_immortalize(void *_Nonnull object) {
    if (_swift_stdlib_immortalize) _swift_stdlib_immortalize(object);
}
