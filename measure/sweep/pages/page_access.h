// Opens HNSW graphs on pages, and works on them, in the ways that command lines name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "dataset/vector_set.h"
#include "search/core/search_core.h"
#include "ssd_baseline/paged/cores/hnsw_crew.h"
#include "ssd_baseline/paged/cores/paged_part.h"
#include "ssd_baseline/paged/graph/hnsw_access.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::measure {

struct PageAccess {
  std::string buffer = {};  ///< empty: paged::kUsualBuffer
  std::string search = "pipelined";
  std::uint32_t min_complete = paged::HnswReadOptions{}.min_complete;
  std::uint32_t slots = 8;
  std::uint32_t threads = 1;
  std::string durability = "commit";
  bool changes = true;  ///< whether the graph is to be changed, too
  bool quiet = false;   ///< whether nothing is said of a recovery
};

/// Opens the graph with the buffer and the durability that were asked for. Says on stderr what a
/// recovery did, unless `quiet`.
std::unique_ptr<paged::PagedHnsw> open_hnsw(const std::string& path, const PageAccess& access);

/// Makes as many cores as there are threads, each with as many searches in flight as there are
/// slots. `counts` receives what their searches cost; it may be null.
std::vector<std::unique_ptr<search::SearchCore>> make_cores(
    paged::PagedHnsw& hnsw, const PageAccess& access,
    std::shared_ptr<paged::SearchCounts> counts = nullptr);

/// Returns options of work that ends early when it is interrupted.
paged::HnswCrewOptions crew_options(const PageAccess& access, Interruption interrupted);

/// Returns the rows of a file in the form that the graph stores. Throws Error when type or
/// dimension do not fit.
dataset::VectorSet stored_for(const paged::HnswConfig& config, const std::string& path);
/// Returns `rows` in that form. `path` is what messages call them.
dataset::VectorSet stored_for(const paged::HnswConfig& config, dataset::VectorSet rows,
                              const std::string& path);

}  // namespace farvec::measure
