#include "Exempt.h"

_Thread_local int exempt_depth;
