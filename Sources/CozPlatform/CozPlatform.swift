// The C library of the system. No other file knows which one it is; calls that differ between
// systems are in CozKernels.

#if canImport(Darwin)
@_exported public import Darwin
#elseif canImport(Musl)
@_exported public import Musl
#else
@_exported public import Glibc
#endif
