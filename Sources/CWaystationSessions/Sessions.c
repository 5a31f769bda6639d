// RTLD_NEXT
#define _GNU_SOURCE

#include "CWaystationSessions.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

// The three getters by which code comes to a configuration or to the shared session: in tests, they cure the trap L9 of
// Docs/FoundationTraps.md. The linker binds the calls in a program to these definitions in place of those in
// Foundation's shared library, and each of them calls the one that it stands before. They are weak: where Foundation is
// linked statically, its own definitions are used, without an error of the linker. If a later Foundation has other
// names, these are never called; `FoundationCure.reachedSessions` finds that out.

// A static getter of Swift: the type comes in the context register, and a retained object is returned.
#define SWIFT __attribute__((swiftcall))
#define CONTEXT __attribute__((swift_context))
typedef SWIFT void *(*getter)(CONTEXT void *type);

static getter next_definition(const char *symbol) {
    getter next = (getter)dlsym(RTLD_NEXT, symbol);
    // Without Foundation's own definition, the program could not have been linked.
    if (next == NULL) abort();
    return next;
}

#define STANDS_BEFORE(symbol, name, observe)                                                    \
    SWIFT __attribute__((weak, visibility("default"))) void *name(CONTEXT void *type) __asm__(symbol); \
    SWIFT void *name(CONTEXT void *type) {                                                      \
        static _Atomic(getter) known;                                                           \
        getter next = atomic_load(&known);                                                      \
        if (next == NULL) atomic_store(&known, next = next_definition(symbol));                 \
        void *result = next(type);                                                              \
        observe(result);                                                                        \
        return result;                                                                          \
    }

STANDS_BEFORE("$s20FoundationNetworking23URLSessionConfigurationC7defaultACvgZ", default_configuration,
              waystation_configuration_was_made)
STANDS_BEFORE("$s20FoundationNetworking23URLSessionConfigurationC9ephemeralACvgZ", ephemeral_configuration,
              waystation_configuration_was_made)
STANDS_BEFORE("$s20FoundationNetworking10URLSessionC6sharedACvgZ", shared_session,
              waystation_shared_session_was_asked)
