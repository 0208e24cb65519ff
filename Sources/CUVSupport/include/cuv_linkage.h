#ifndef CUV_LINKAGE_H
#define CUV_LINKAGE_H

// The declarations of each header are between CUV_BEGIN and CUV_END.
//
// They are hidden: two dynamic libraries of a process may each contain a copy of the library, and
// Swift's state is each copy's own. Without this the linker would give both one thread-local state,
// in which the second copy found the first one's loop. And they are C's, also for Swift code that is
// built for C++.
#ifdef __cplusplus
#define CUV_BEGIN _Pragma("GCC visibility push(hidden)") extern "C" {
#define CUV_END } _Pragma("GCC visibility pop")
#else
#define CUV_BEGIN _Pragma("GCC visibility push(hidden)")
#define CUV_END _Pragma("GCC visibility pop")
#endif

#endif
