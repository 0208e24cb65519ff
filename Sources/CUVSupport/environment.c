// Reads variables of the environment.

#include "cuv_environment.h"

#include <stdlib.h>
#include <string.h>

int cuv_environment_has(const char *_Nonnull name, const char *_Nonnull value) {
    const char *found = getenv(name);
    return found && strcmp(found, value) == 0;
}
