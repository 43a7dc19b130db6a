// A SplitRabitq keeps a RaBitQ code in two places: its top bit in DRAM, for estimates, the other
// bits with the record. Source: VeloANN section 3.3 on top of extended RaBitQ; formulae in
// docs/understand/quantization.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/progress.h"
#include "base/types.h"
#include "quantization/code_shape.h"
#include "quantization/kernels/single.h"
#include "quantization/rabitq.h"

namespace farvec::quantization {

struct SplitTraining {
  std::uint32_t extension_bits = 4;  ///< bits per dimension, 1 to SplitRabitq::kMostExtensionBits
  std::uint64_t seed = 1;            ///< seed of the rotation
  unsigned threads = 0;              ///< see resolve_threads()
  Progress* progress = nullptr;      ///< borrowed; counts every row twice
};

/// SplitParameters are two sets of factor ranges for one centroid and one rotation.
struct SplitParameters {
  RabitqParameters code;   ///< 1 bit
  RabitqParameters whole;  ///< 1 bit and the bits of the extension
};

/// A SplitQuery is a query for both parts. Reused between queries; only SplitRabitq and the 1-bit
/// Rabitq read it.
struct SplitQuery {
  RabitqQuery code;
  RabitqQuery whole;
};

/// The top bit of every level of a code of 1 + E bits is the sign of the rotated residual, and so
/// is the code of 1 bit. code() estimates from it alone. refine() uses it and the E bits that are
/// elsewhere, and gives the same value as a Rabitq of 1 + E bits. Thread-safe once constructed.
class SplitRabitq {
 public:
  static constexpr std::uint32_t kMostExtensionBits = 7;

  /// Trains both parts. Throws Error when there are no rows, or a dimension or bits are out of
  /// range, and WorkInterrupted. The result does not depend on the threads.
  static SplitParameters train(VectorView data, Metric metric, const SplitTraining& training);
  /// Throws Error when the parameters contradict themselves or each other.
  explicit SplitRabitq(SplitParameters parameters);

  const Rabitq& code() const { return code_; }
  std::uint32_t extension_bits() const { return extension_.bits; }
  const RabitqParameters& whole_parameters() const { return whole_.parameters(); }
  /// Returns the bytes of one extension: E bits per dimension and 4 bytes of factors, not padded.
  std::uint32_t extension_bytes() const { return extension_.code_bytes + kFactorBytes; }
  static std::uint32_t extension_bytes(std::uint32_t dimension, std::uint32_t extension_bits) {
    return CodeShape(dimension, extension_bits).code_bytes + kFactorBytes;
  }

  /// Writes the extension of row i to out + i * extension_bytes(). Deterministic. Counts every row
  /// once; throws WorkInterrupted.
  void encode_extensions(VectorView data, std::byte* out, RowWork work) const;

  /// `query` is one row of the stored type, at any alignment.
  void prepare(const void* query, SplitQuery& out) const;

  /// Returns the whole code's estimate: `code` is the vector's record of code(), `extension` its
  /// extension, both at any alignment. All processors give the same bits.
  float refine(const SplitQuery& query, const std::byte* code, const std::byte* extension) const;
  /// Also sets `error` to the half-width of the error bound.
  float refine_with_error(const SplitQuery& query, const std::byte* code,
                          const std::byte* extension, float& error) const;

 private:
  static constexpr std::uint32_t kFactorBytes = sizeof(std::uint32_t);

  float product(const RabitqQuery& query, const std::byte* code, const std::byte* extension) const;

  Rabitq code_;
  Rabitq whole_;
  CodeShape extension_;
  SingleDotKernel kernel_;
};

}  // namespace farvec::quantization
