// Distances between vectors of one element type, by the best instruction set of this processor.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/types.h"

namespace farvec::distance {

enum class Isa : std::uint8_t { portable, neon, avx2, avx512 };

std::string_view to_string(Isa isa);

/// The instruction set in use: the best this processor has, or what FARVEC_ISA names
/// (portable, neon, avx2, avx512). Throws Error when FARVEC_ISA names one that is not there.
Isa active_isa();

/// Distance of two vectors of `dimension` elements at any alignment; smaller is closer.
using PairKernel = float (*)(const void* a, const void* b, std::uint32_t dimension);

/// l2: squared Euclidean. inner_product: -<a,b>. cosine: both vectors are already normalised, so
/// 1 - <a,b>. Integer types accumulate exactly in 32-bit integers (no overflow up to dimension
/// 4096), so their result does not depend on the instruction set.
PairKernel pair_kernel(Metric metric, ElementType type, Isa isa = active_isa());

/// Converts one element row to f32.
void widen(const void* row, ElementType type, std::uint32_t dimension, float* out);
/// Converts f32 to the element type; integers are rounded and clamped.
void narrow(const float* row, ElementType type, std::uint32_t dimension, void* out);

/// The type in which a metric stores vectors: cosine stores unit vectors, so u8 and i8 become f16;
/// everything else is stored as it is.
ElementType stored_type(Metric metric, ElementType source);

/// Writes the stored form of one source row (cosine: normalised; a zero vector stays zero).
void to_stored(const void* row, ElementType source, Metric metric, std::uint32_t dimension,
               void* out);

}  // namespace farvec::distance
