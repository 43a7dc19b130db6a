// Computes distances between vectors of one element type, with the best instruction set of this
// processor.
#pragma once

#include <cstdint>
#include <span>

#include "base/types.h"
#include "distance/isa.h"

namespace farvec::distance {

/// Computes the distance of two vectors of `dimension` elements at any alignment; smaller is
/// closer. Reads no byte beyond either vector.
using PairKernel = float (*)(const void* a, const void* b, std::uint32_t dimension);

/// Returns the kernel of a metric. l2: squared Euclidean. inner_product: -<a,b>. cosine: both
/// vectors are already normalised, so it is 1 - <a,b>; only for f32 and f16. hamming and jaccard:
/// only for b1; they count all bits of the last byte, so those after the last element must be 0.
/// Integer types accumulate exactly in 32-bit integers (no overflow up to kMaxDimension), and bits
/// are counted, so their result does not depend on the instruction set. The kernel may be
/// specialised for `dimension`: call it with that dimension only. Throws Error for dimension 0 or
/// above max_dimension(), for cosine over integers, for a metric that cannot compare the type, and
/// for an instruction set that is not available. Floats may have kMaxBits elements, which centroids
/// of bits have.
PairKernel pair_kernel(Metric metric, ElementType type, std::uint32_t dimension,
                       Isa isa = active_isa());

/// Sets out[i] = distance(query, rows.row(ids[i])), with the same bits as the pair kernel.
/// Prefetches rows before their use. `query` has rows' element type and dimension; `out` has
/// ids.size() places. Ids may repeat; they are not checked against rows.count.
using ManyKernel = void (*)(const void* query, const VectorView& rows, std::span<const NodeId> ids,
                            float* out);

/// Works like pair_kernel(): call the kernel only with rows of `type` and `dimension`.
ManyKernel many_kernel(Metric metric, ElementType type, std::uint32_t dimension,
                       Isa isa = active_isa());

/// Converts one element row to f32 (exact); bits become 0 and 1.
void widen(const void* row, ElementType type, std::uint32_t dimension, float* out);
/// Converts f32 to the element type, rounding to nearest even. Integers are clamped and NaN becomes
/// 0; f16 overflows to infinity and keeps NaN. Numbers above 1/2 become bits that are set, and the
/// bits after the last element are 0.
void narrow(const float* row, ElementType type, std::uint32_t dimension, void* out);

/// Writes the stored form of one source row (cosine: normalised; a zero vector stays zero). `out`
/// has dimension elements of stored_type(); it must not overlap `row`.
void to_stored(const void* row, ElementType source, Metric metric, std::uint32_t dimension,
               void* out);

}  // namespace farvec::distance
