// The C library, under one name for the whole package: this is the only file that says which one it
// is. The files that make system calls say `internal import UVLibc`.
//
// Re-exporting is right here, because the module has nothing else to offer. It does not reach the
// clients of the package: the module belongs to no product, and an internal import does not extend
// what an `import` of the importing module makes visible.

#if canImport(Glibc)
@_exported import Glibc
#elseif canImport(Musl)
@_exported import Musl
#else
#error("UVRunLoop needs Linux, with Glibc or Musl.")
#endif
