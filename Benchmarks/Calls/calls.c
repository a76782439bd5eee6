// Counts what a program asks of Swift's runtime, of the system and of libpq, in a file that another process reads meanwhile.
//
//   COUNTED_CALLS_FILE=calls LD_PRELOAD=calls.so carillon serve
//
// The file begins with struct file. Counted are calls that go from one library to another: those that the runtime makes of its own
// functions inside its library are not seen, nor are system calls that no function has to be called for.
//
// Each function that is counted is a few instructions that leave all arguments where they are and jump to the function that it
// stands for, since Swift's calling conventions keep arguments in registers that C does not know.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef __x86_64__
#error "The instructions are those of x86-64."
#endif

// Four bytes of a program's code have one place: no two calls begin so close to each other.
#define SITE_SHIFT "2"

enum { KINDS = 16, MOST_SITES = 1 << 24 };

struct file {
    uint64_t counts[KINDS]; // by kind, in the order of CountedCall in Swift
    uint32_t retains[MOST_SITES]; // by the address in the program, less where it begins, of who called
};

// What is counted before the file is open is not wanted.
__attribute__((visibility("hidden"))) uint64_t unwanted[KINDS];
__attribute__((visibility("hidden"))) uint64_t *counts = unwanted;
__attribute__((visibility("hidden"))) uint32_t *retains;
__attribute__((visibility("hidden"))) uint64_t base, size;

#define REAL(name) __attribute__((visibility("hidden"))) void *real_##name;

#define COUNT(kind) "movq counts(%rip), %r11\n lock incq 8*" #kind "(%r11)\n"

// Counts by the caller's place, if that is in the program.
#define COUNT_SITE                                                                                                         \
    "movq (%rsp), %r11\n subq base(%rip), %r11\n cmpq size(%rip), %r11\n jae 1f\n"                                         \
    "shrq $" SITE_SHIFT ", %r11\n movq retains(%rip), %r10\n lock incl (%r10,%r11,4)\n 1:\n"

#define COUNTED(name, kind, sites)                                                                                         \
    REAL(name)                                                                                                             \
    __asm__(".text\n .globl " #name "\n .type " #name ", @function\n" #name ":\n" COUNT(kind) sites                        \
            "jmpq *real_" #name "(%rip)\n .size " #name ", . - " #name "\n");

#define FUNCTIONS(COUNTED)                                                                                                 \
    COUNTED(swift_retain, 0, COUNT_SITE)                                                                                   \
    COUNTED(swift_retain_n, 0, COUNT_SITE)                                                                                 \
    COUNTED(swift_bridgeObjectRetain, 0, COUNT_SITE)                                                                       \
    COUNTED(swift_bridgeObjectRetain_n, 0, COUNT_SITE)                                                                     \
    COUNTED(swift_release, 1, "")                                                                                          \
    COUNTED(swift_release_n, 1, "")                                                                                        \
    COUNTED(swift_bridgeObjectRelease, 1, "")                                                                              \
    COUNTED(swift_bridgeObjectRelease_n, 1, "")                                                                            \
    COUNTED(swift_allocObject, 2, "")                                                                                       \
    COUNTED(swift_task_create, 4, "")                                                                                      \
    COUNTED(swift_task_switch, 5, "")                                                                                      \
    COUNTED(swift_continuation_await, 6, "")                                                                               \
    COUNTED(read, 7, "")                                                                                                   \
    COUNTED(readv, 7, "")                                                                                                  \
    COUNTED(recv, 7, "")                                                                                                   \
    COUNTED(recvfrom, 7, "")                                                                                               \
    COUNTED(recvmsg, 7, "")                                                                                                \
    COUNTED(write, 8, "")                                                                                                  \
    COUNTED(writev, 8, "")                                                                                                 \
    COUNTED(send, 8, "")                                                                                                   \
    COUNTED(sendto, 8, "")                                                                                                 \
    COUNTED(sendmsg, 8, "")                                                                                                \
    COUNTED(poll, 9, "")                                                                                                   \
    COUNTED(epoll_wait, 9, "")                                                                                             \
    COUNTED(epoll_ctl, 9, "")                                                                                              \
    COUNTED(getrandom, 10, "")                                                                                             \
    COUNTED(pthread_cond_wait, 11, "")                                                                                     \
    COUNTED(pthread_cond_timedwait, 11, "")                                                                                \
    COUNTED(sem_wait, 11, "")                                                                                              \
    COUNTED(syscall, 12, "")                                                                                               \
    COUNTED(PQsendQueryPrepared, 13, "")                                                                                   \
    COUNTED(PQsendQueryParams, 13, "")                                                                                     \
    COUNTED(PQsendQuery, 13, "")                                                                                           \
    COUNTED(PQpipelineSync, 14, "")

FUNCTIONS(COUNTED)

// Memory is needed before anything could be looked up: these have second names.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count_memory(void) { __atomic_fetch_add(&counts[3], 1, __ATOMIC_RELAXED); }
void *malloc(size_t bytes) { return count_memory(), __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return count_memory(), __libc_calloc(count, bytes); }
void *realloc(void *old, size_t bytes) { return count_memory(), __libc_realloc(old, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return count_memory(), __libc_memalign(alignment, bytes); }
int posix_memalign(void **made, size_t alignment, size_t bytes) {
    count_memory();
    *made = __libc_memalign(alignment, bytes);
    return *made ? 0 : 12;
}

// The first object is the program. Its code is what may be executed.
static int find_program(struct dl_phdr_info *info, size_t bytes, void *context) {
    (void)bytes, (void)context;
    base = info->dlpi_addr;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) size = part->p_vaddr + part->p_memsz;
    }
    return 1;
}

static const char *value_of(const char *name, char **environment) {
    for (size_t length = strlen(name); *environment; environment++)
        if (!strncmp(*environment, name, length) && (*environment)[length] == '=') return *environment + length + 1;
    return NULL;
}

// Linked to be initialised first, before the C library knows its environment: whatever is counted may be called by the initialisers of
// others. What the program starts finds the file that is there, and counts nothing.
__attribute__((constructor)) static void begin(int count, char **arguments, char **environment) {
    (void)count, (void)arguments;
#define LOOK_UP(name, kind, sites) real_##name = dlsym(RTLD_NEXT, #name);
    FUNCTIONS(LOOK_UP)
    const char *path = value_of("COUNTED_CALLS_FILE", environment);
    int descriptor = path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (descriptor < 0) return;
    dl_iterate_phdr(find_program, NULL);
    if (size > (uint64_t)MOST_SITES << 2 || ftruncate(descriptor, sizeof(struct file))) abort();
    struct file *file = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (file == MAP_FAILED) abort();
    retains = file->retains;
    counts = file->counts;
}
