// A paged HNSW that fibers change while a vacuum goes over it, until the power goes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "coroutines/scheduler.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"
#include "tests/power/changes.h"
#include "tests/power/journal.h"

namespace farvec::power {

class HnswLife {
 public:
  HnswLife(std::filesystem::path folder, Journal& journal);

  /// Makes the graph, if no life has, or opens it and looks whether it is sound and has what it
  /// should have. Says what it found. Throws Error.
  std::string check();
  /// Behind check(): changes it for ever. Throws Error when a change fails.
  [[noreturn]] void live();

 private:
  void make();
  Rows stored_rows();
  void run_core(unsigned core);
  void write(paged::PageFetcher& fetcher, unsigned writer);
  void vacuum(paged::PageFetcher& fetcher);

  const std::filesystem::path folder_;
  Journal& journal_;
  const Script script_;
  std::unique_ptr<paged::PagedHnsw> hnsw_;
  std::vector<Beginning> begins_;
};

}  // namespace farvec::power
