// Owns the hook of asynchronous main functions.

#include "cuv_tasks.h"

#include <errno.h>
#include <stdlib.h>

// The concurrency runtime's hook, called on the main thread when an asynchronous main function has
// suspended for the first time. The hook must not return. The declaration is weak, because a
// runtime may lack it; the linker resolves it, so it also works with a static copy of the runtime.
typedef __attribute__((swiftcall)) void (*drain_original)(void);
typedef __attribute__((swiftcall)) void (*drain_override)(drain_original _Nonnull original);
typedef __attribute__((swiftcall)) void (*drain_hook)(drain_original _Nonnull original,
                                                      drain_override _Nullable override);
__attribute__((weak)) extern drain_hook _Nullable swift_task_asyncMainDrainQueue_hook;

// Set on the main thread, which also calls the hook.
static void (*_Nullable async_main)(void);

static __attribute__((swiftcall)) void drain(drain_original _Nonnull original,
                                             drain_override _Nullable override) {
    (void)original;
    (void)override;
    async_main();
    abort();
}

int cuv_set_async_main(void (*_Nonnull function)(void)) {
    if (&swift_task_asyncMainDrainQueue_hook == NULL) return -ENOSYS;
    async_main = function;
    swift_task_asyncMainDrainQueue_hook = drain;
    return 0;
}
