// This module has no functions: it sets libcrypto up before the program begins (Exit.c).
