// OpenSSL 3 advises programs against the functions for one digest. They stay here, because they cannot fail: they need
// no memory, no provider and no configuration file.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/md5.h>
#include <openssl/sha.h>
