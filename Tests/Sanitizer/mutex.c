// Tells the thread sanitizer of Swift's Mutex. When it is contended, Linux hands it over in the kernel (FUTEX_LOCK_PI, futex(2)),
// which the sanitizer cannot see, so that whatever a Mutex guards looks like a race. Loaded before the Swift runtime
// (LD_PRELOAD), this stands in for the three functions that ask the kernel.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Missing in the processes that load this and are not built with the sanitizer.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

SWIFT void lock(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT bool tryLock(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT void unlock(SELF void *mutex) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF void *mutex) {
    ((SWIFT void (*)(uint32_t, SELF void *))next(LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool tryLock(SELF void *mutex) {
    bool isLocked = ((SWIFT bool (*)(SELF void *))next(TRY_LOCK))(mutex);
    if (isLocked && __tsan_acquire) __tsan_acquire(mutex);
    return isLocked;
}

SWIFT void unlock(SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((SWIFT void (*)(SELF void *))next(UNLOCK))(mutex);
}
