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

/// The share of the graph's pages that a buffer has where none is chosen.
inline constexpr std::string_view kUsualBuffer = "25%";

/// BufferNeeds say how large the buffer of a graph must be, in pages.
struct BufferNeeds {
  std::uint32_t page_bytes = 8192;
  std::size_t change_pages = 0;    ///< pages that one change holds at most; 0: nothing is changed
  std::size_t least = kMinFrames;  ///< a buffer of fewer is refused: some change would never go in
  std::size_t share = kMinFrames;  ///< a share has at least these
  std::size_t usual = kMinFrames;  ///< a buffer that is not chosen has at least these

  /// Returns the needs of a graph whose changes hold up to `change_pages`, with this many of them
  /// under way at once. A share has room for two. A buffer that is not chosen has room for each of
  /// them, up to 1 GiB: beyond that they wait for each other.
  static BufferNeeds for_changes(std::size_t change_pages, std::uint32_t page_bytes,
                                 std::uint64_t at_once);
  /// Returns the same for a graph that is to be made. Throws Error like hnsw_level_rule().
  static BufferNeeds for_changes(const HnswConfig& config, std::uint32_t page_bytes,
                                 std::uint64_t at_once);
};

/// Returns the bytes of a buffer: "10%" of `whole`, a size like "512MiB", or without a text the
/// usual share, each with what it needs at least. Throws Error naming `option`, also for a size
/// that is too small, and then names the smallest that is not.
std::uint64_t buffer_bytes(const std::string& text, std::uint64_t whole, const BufferNeeds& needs,
                           std::string_view option);

/// Says whether `path` is an HNSW graph on pages.
bool is_hnsw(const std::string& path);
/// Throws Error that says what the path is, when it is not such a graph.
void require_hnsw(const std::string& path);

struct HnswOpening {
  std::string buffer = {};  ///< a share of the graph's pages, or a size; empty: kUsualBuffer
  std::string durability = "commit";  ///< commit, interval:MS or none
  std::string_view buffer_option = "--buffer";
  /// The inserts, deletes and vacuums that are under way at once, for which the buffer has room; 0:
  /// the graph is only searched.
  std::uint64_t changes_at_once = 1;
};

/// Recovers and opens the graph. Throws Error.
std::unique_ptr<PagedHnsw> open_hnsw(const std::string& path, const HnswOpening& opening);

}  // namespace farvec::paged
