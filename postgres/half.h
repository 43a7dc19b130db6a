// This header computes with half floats (IEEE 754 binary16) as 16 bits, on any processor and
// compiler.
#ifndef FARVEC_POSTGRES_HALF_H
#define FARVEC_POSTGRES_HALF_H

#include <postgres.h>

#include <string.h>

#define FARVEC_HALF_INFINITY 0x7C00

static inline uint32 bits_of_float(float value) {
  uint32 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float float_of_bits(uint32 bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline bool half_is_finite(uint16 half) {
  return (half & FARVEC_HALF_INFINITY) != FARVEC_HALF_INFINITY;
}

// Exact for every finite half, subnormal ones too. Without branches, so that compilers vectorise
// it.
static inline float float_of_finite_half(uint16 half) {
  // The exponents' biases are 112 apart: the bits, moved, are the number times 2^-112.
  const float magnitude = float_of_bits((uint32)(half & 0x7FFF) << 13) * 0x1p112f;
  return float_of_bits(bits_of_float(magnitude) | (uint32)(half & 0x8000) << 16);
}

// The nearest half, ties to even; infinite where the number is beyond the greatest half. NaN stays
// NaN.
static inline uint16 half_of_float(float value) {
  const uint32 bits = bits_of_float(value);
  const uint16 sign = (uint16)(bits >> 16 & 0x8000);
  const uint32 magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7E00;
  if (magnitude >= 0x477FF000) return sign | FARVEC_HALF_INFINITY;  // 65520 rounds up to 2^16
  if (magnitude < 0x38800000) {                                     // below 2^-14: subnormal
    // The sum has the unit of half subnormals, 2^-24, in its last place: adding rounds to even.
    const float sum = float_of_bits(magnitude) + 0.5f;
    return sign | (uint16)(bits_of_float(sum) - bits_of_float(0.5f));
  }
  // Rounds at the 13 bits that go. A carry out of the fraction rightly goes into the exponent.
  const uint32 rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return sign | (uint16)((rounded >> 13) - (112 << 10));
}

#endif
