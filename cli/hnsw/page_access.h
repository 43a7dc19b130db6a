// How the tool opens HNSW graphs on pages, and works on them: options that several commands share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/command_line.h"
#include "dataset/vector_set.h"
#include "ssd_baseline/hnsw/hnsw_crew.h"
#include "ssd_baseline/hnsw/paged_hnsw.h"

namespace farvec::cli {

struct PageAccess {
  std::string buffer = "25%";
  std::string search = "pipelined";
  std::uint32_t min_complete = ssd_baseline::HnswReadOptions{}.min_complete;
  std::uint32_t slots = 8;
  std::uint32_t threads = 1;
  std::string durability = "commit";
};

/// --search, --min-complete, --slots, --threads of what works on a graph.
void add_crew_options(Command& command, PageAccess& access);
/// --buffer and --durability.
void add_store_options(Command& command, PageAccess& access);

/// Bytes of "25%" of `whole`, or what a store of such pages needs if that is more; or of a size as
/// it is. Throws Error naming --buffer.
std::uint64_t buffer_bytes(const std::string& text, std::uint64_t whole, std::uint32_t page_bytes);

/// Whether `path` is an HNSW graph on pages.
bool is_hnsw(const std::string& path);
/// Throws Error when it is none, saying what the path is.
void require_hnsw(const std::string& path);

/// Opens with the buffer and the durability asked for. Says on stderr what a recovery did.
std::unique_ptr<ssd_baseline::PagedHnsw> open_hnsw(const std::string& path,
                                                   const PageAccess& access);

/// Ends early when the program is interrupted().
ssd_baseline::HnswCrewOptions crew_options(const PageAccess& access);

/// Rows of a file as the graph stores them. Throws Error when type or dimension do not fit.
dataset::VectorSet stored_for(const ssd_baseline::HnswConfig& config, const std::string& path);
dataset::VectorSet stored_for(const ssd_baseline::HnswConfig& config, dataset::VectorSet rows,
                              const std::string& path);

}  // namespace farvec::cli
