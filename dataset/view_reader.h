// A ViewReader reads rows in memory as if they were a file, for code that reads files.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/types.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Borrows the rows. `name` is used as the path in messages.
class ViewReader final : public VectorReader {
 public:
  ViewReader(const VectorView& rows, std::string name)
      : ViewReader(rows, {}, rows.count, std::move(name)) {}
  /// Presents some of the rows, in the given order.
  ViewReader(const VectorView& rows, const std::vector<NodeId>& chosen, std::string name)
      : ViewReader(rows, chosen, chosen.size(), std::move(name)) {}

 private:
  ViewReader(const VectorView& rows, std::vector<NodeId> chosen, std::uint64_t count,
             std::string name)
      : VectorReader({std::move(name),
                      "memory",
                      count,
                      rows.dimension,
                      rows.type,
                      count * rows.row_bytes(),
                      {}}),
        rows_(rows),
        chosen_(std::move(chosen)) {}

  void do_read(std::uint64_t begin, std::size_t count, std::byte* out) override {
    const std::size_t bytes = rows_.row_bytes();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t row = chosen_.empty() ? begin + i : chosen_[begin + i];
      std::memcpy(out + i * bytes, rows_.row(row), bytes);
    }
  }

  const VectorView rows_;
  const std::vector<NodeId> chosen_;  ///< empty: all
};

}  // namespace farvec::dataset
