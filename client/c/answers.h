// Answers are what C functions give out. They are plain memory, which every thread and process may
// read, and no part of them is gRPC's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "changes/listed_rows.h"
#include "changes/receipt.h"
#include "client/remote_results.h"
#include "layout/attributes/schema.h"
#include "search/core/search_core.h"

namespace farvec::c {

/// Texts for C, of which some are missing.
class Texts {
 public:
  void append(const std::string& text) {
    begins_.push_back(bytes_.size());
    bytes_.append(text.c_str(), text.size() + 1);
  }
  void append_none() { begins_.push_back(kNone); }
  /// Returns null where the text is missing.
  const char* operator[](std::size_t index) const {
    if (index >= begins_.size() || begins_[index] == kNone) return nullptr;
    return bytes_.data() + begins_[index];
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::string bytes_;
  std::vector<std::size_t> begins_;
};

/// What searches found: `k` places for each query, the first `counts` of which are taken.
struct Found {
  std::size_t k = 0;
  std::vector<std::size_t> counts;
  std::vector<std::uint64_t> ids;
  std::vector<float> distances;
  Texts attributes;  ///< one for every place; none where no columns were selected
  search::QueryCounts totals;
  double coverage = 1;
};

/// `select` is the schema of the columns that came with the results.
Found found_in(client::RemoteResults results, const layout::Schema& select);

/// Rows that were read by their ids, or listed.
struct ReadRows {
  std::vector<std::uint64_t> ids;
  std::vector<bool> found;
  std::size_t row_bytes = 0;
  std::vector<std::size_t> places;  ///< where each row's vector is in `vectors`; none: listed rows
  std::vector<std::byte> vectors;
  Texts attributes;
  std::uint64_t matches = 0;
  bool more = false;
};

ReadRows rows_in(std::vector<std::uint64_t> ids, changes::FoundRows found,
                 const layout::Schema& schema);
ReadRows rows_in(changes::ListedRows listed, const layout::Schema& schema);

}  // namespace farvec::c
