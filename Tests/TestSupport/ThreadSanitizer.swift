/// Whether the tests run under the thread sanitizer, which has rules of its own for forked children
/// and for threads that end.
#if THREAD_SANITIZER
package let isUnderThreadSanitizer = true
#else
package let isUnderThreadSanitizer = false
#endif
