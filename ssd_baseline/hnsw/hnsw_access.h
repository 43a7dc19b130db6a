// HNSW graphs on pages as programs open them: a folder, a share of it in memory, a durability.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ssd_baseline/hnsw/paged_hnsw.h"

namespace farvec::ssd_baseline {

/// Bytes of "25%" of `whole`, or what a store of such pages needs if that is more; or of a size as
/// it is. Throws Error naming `option`.
std::uint64_t buffer_bytes(const std::string& text, std::uint64_t whole, std::uint32_t page_bytes,
                           std::string_view option);

/// Whether `path` is an HNSW graph on pages.
bool is_hnsw(const std::string& path);
/// Throws Error when it is none, saying what the path is.
void require_hnsw(const std::string& path);

struct HnswOpening {
  std::string buffer = "25%";         ///< of the graph's pages, or a size
  std::string durability = "commit";  ///< commit, interval:MS or none
  std::string_view buffer_option = "--buffer";
};

/// Before a long build: throws Error when `out` is there and holds something else, or a graph that
/// is not to be replaced, which `option` would do, or that a process has open.
void check_hnsw_destination(const std::string& out, bool replace, std::string_view option);

/// Recovers and opens it. Throws Error.
std::unique_ptr<PagedHnsw> open_hnsw(const std::string& path, const HnswOpening& opening);

}  // namespace farvec::ssd_baseline
