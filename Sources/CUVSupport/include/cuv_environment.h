#ifndef CUV_ENVIRONMENT_H
#define CUV_ENVIRONMENT_H

// Whether a variable of the environment has a value.
int cuv_environment_has(const char *_Nonnull name, const char *_Nonnull value);

#endif
