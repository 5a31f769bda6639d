#include "WaystationLibcrypto.h"

// libcrypto frees its state when the program calls `exit`, also while other threads use it, and these then crash. Loads of
// an interceptor go on until the process has ended, so the state is kept. Only the first call decides, which is this one:
// libcurl sets libcrypto up when the first session is made.
__attribute__((constructor)) static void keepStateAtExit(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
