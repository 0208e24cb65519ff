#include "QuietItems.h"

#include <stdlib.h>

__attribute__((constructor)) void quiet_items(void) { setenv("UVRUNLOOP_WARNS_OF_UNUSED_ITEMS", "0", 0); }
