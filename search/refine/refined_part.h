// A refined part ranks the results of an index of few bits again, by a second copy of its vectors.
#pragma once

#include <cstdint>
#include <memory>

#include "coroutines/scheduler.h"
#include "search/core/core_part.h"
#include "search/index/search_index.h"
#include "transport/endpoint.h"

namespace farvec::search {

struct RefineOptions {
  std::uint32_t candidates = 64;   ///< the most of one search
  transport::RegionId region = 0;  ///< the region of the endpoint that has the copy's file
  bool checked = false;            ///< every row in it was checked before searches began
};

/// Makes a part whose requests have queries in the form of the second copy. The inner part is one
/// of the index, which has a second copy and must outlive the part. A search asks the inner part
/// for as many candidates as it ranks again, reads their rows in one round (in several where these
/// are more than kRoundBytes), and answers with the k nearest by their distance to the second copy.
/// An exact search, and one among no more rows than it would rank again, does not ask the inner
/// part at all. Each row that comes is checked against its checksum, unless all were before, and
/// data_loss is returned where it differs. Throws Error when the endpoint cannot bring a row.
std::unique_ptr<CorePart> make_refined_part(std::unique_ptr<CorePart> inner,
                                            const SearchIndex& index,
                                            std::unique_ptr<transport::Endpoint> endpoint,
                                            const RefineOptions& options,
                                            coroutines::Scheduler& scheduler);

/// Returns the bytes that such a part keeps besides the inner one, at most, with `slots` searches
/// in flight that have `k` results each.
std::size_t refined_bytes(const SecondCopy& second, std::uint32_t slots, std::uint32_t k,
                          const RefineOptions& options);

/// A round of reads brings at most this many bytes, or one row where that is longer.
inline constexpr std::size_t kRoundBytes = std::size_t{4} << 20;

}  // namespace farvec::search
