#if !__has_include(<bzlib.h>)
#error "The header bzlib.h is missing: install the package libbz2-dev (apt-get install libbz2-dev)"
#endif
#include <bzlib.h>
