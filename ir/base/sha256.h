/* SHA-256, of FIPS 180-4. */
#ifndef IR_BASE_SHA256_H
#define IR_BASE_SHA256_H

#include <stddef.h>

enum { SHA256_HEX = 64 };

/* The digest of `size` bytes in hexadecimal digits, with a NUL behind them. */
void sha256_hex(const void *bytes, size_t size, char hex[SHA256_HEX + 1]);

#endif
