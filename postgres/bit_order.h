// This header turns bits of PostgreSQL, whose first one is the greatest of a byte, into farvec's,
// whose first one is the least.
#ifndef FARVEC_POSTGRES_BIT_ORDER_H
#define FARVEC_POSTGRES_BIT_ORDER_H

#include <postgres.h>

static inline uint8 reversed_bits(uint8 byte) {
  byte = (uint8)(byte >> 4 | byte << 4);
  byte = (uint8)((byte & 0xCC) >> 2 | (byte & 0x33) << 2);
  return (uint8)((byte & 0xAA) >> 1 | (byte & 0x55) << 1);
}

static inline void reverse_bits(const uint8* from, Size bytes, uint8* to) {
  for (Size i = 0; i < bytes; i++) to[i] = reversed_bits(from[i]);
}

#endif
