#if !__has_include(<openssl/evp.h>)
#error "The header openssl/evp.h is missing: install the package libssl-dev (apt-get install libssl-dev)"
#endif
// OpenSSL 3 advises programs against the functions for one digest. They stay here, because they cannot fail: they need
// no memory, no provider and no configuration file.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/md5.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
