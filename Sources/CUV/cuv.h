#ifndef CUV_H
#define CUV_H

#include <uv.h>

#if UV_VERSION_HEX < 0x012C00
#error "UVRunLoop needs libuv 1.44 or later."
#endif

#endif
