// Declares the options of `farvec dataset convert` that make vectors of bits, or take them from
// bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "dataset/copy.h"
#include "dataset/vector_file.h"

namespace farvec::cli {

struct BitConversion {
  std::string by;          ///< "sign", "mean", "median" or a file of thresholds; empty: none
  std::string thresholds;  ///< where the thresholds are written; empty: nowhere
  std::string packed;      ///< the order of bits in bytes of u8; empty: bytes are no bits
  std::optional<std::uint32_t> dimension;  ///< bits of a packed row; none: all

  void add_options(Command& command);
  /// Presents bytes as bits, or bits as bytes, where the bits are packed. Throws Error where they
  /// do not fit.
  std::unique_ptr<dataset::VectorReader> presented(
      std::unique_ptr<dataset::VectorReader> rows) const;
  /// Throws UsageError for options that would be ignored. The rows are those of presented(), and
  /// `to` is the type of the output.
  void check(const dataset::VectorFileInfo& rows, ElementType to) const;
  /// Returns what makes bits of a row, after it has read the rows for their thresholds and has
  /// written these. Throws Error, also when the options do not say how.
  dataset::RowConverter converter(dataset::VectorReader& rows, const std::string& out,
                                  bool allow_nonfinite) const;
};

}  // namespace farvec::cli
