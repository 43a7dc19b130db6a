// These functions open HNSW graphs on pages for programs: a folder, a share of it in memory, a
// durability.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "ssd_baseline/paged/store/local_store.h"

namespace farvec::paged {

/// The size that a buffer has however small a share of the graph it is.
struct LeastBuffer {
  std::uint32_t page_bytes = 8192;
  std::size_t pages = kMinFrames;

  std::uint64_t bytes() const { return std::uint64_t{pages} * page_bytes; }
  /// Returns the least buffer for changes of such a graph: many changes may be under way at once.
  static LeastBuffer for_changes(const HnswConfig& config, std::uint32_t page_bytes);
};

/// Returns the bytes of "25%" of `whole`, or the least if that is more; another size is returned as
/// given. Throws Error naming `option`.
std::uint64_t buffer_bytes(const std::string& text, std::uint64_t whole, const LeastBuffer& least,
                           std::string_view option);

/// Says whether `path` is an HNSW graph on pages.
bool is_hnsw(const std::string& path);
/// Throws Error that says what the path is, when it is not such a graph.
void require_hnsw(const std::string& path);

struct HnswOpening {
  std::string buffer = "25%";         ///< a share of the graph's pages, or a size
  std::string durability = "commit";  ///< commit, interval:MS or none
  std::string_view buffer_option = "--buffer";
  bool changes =
      true;  ///< the graph is to be changed, too: even a small share has the room for that
};

/// Recovers and opens the graph. Throws Error.
std::unique_ptr<PagedHnsw> open_hnsw(const std::string& path, const HnswOpening& opening);

}  // namespace farvec::paged
