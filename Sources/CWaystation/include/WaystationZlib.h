#if !__has_include(<zlib.h>)
#error "The header zlib.h is missing: install the package zlib1g-dev (apt-get install zlib1g-dev)"
#endif
#include <zlib.h>
