// Whether the calling thread's calls are left alone: not counted, and never failing on purpose.

#ifndef EXEMPT_H
#define EXEMPT_H

extern _Thread_local int exempt_depth;

static inline void exempt_begin(void) { exempt_depth += 1; }
static inline void exempt_end(void) { exempt_depth -= 1; }

#endif
