// An OpenIndex is an index of this machine, opened on a tier for calls of several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "layout/index/index_directory.h"
#include "python/core_pool.h"
#include "python/searcher.h"
#include "rpc/tls.h"
#include "search/core/disk_options.h"
#include "search/core/search_shape.h"
#include "search/index/row_form.h"
#include "search/index/search_index.h"
#include "tiers/index_on_tier.h"
#include "tiers/record_memory.h"

namespace farvec::python {

struct OpenOptions {
  std::string tier = "dram";
  std::string second_tier = {};  ///< empty: `tier`
  std::uint32_t slots = 16;
  std::uint32_t threads = 1;      ///< the most that search for one call of many queries
  std::uint32_t concurrency = 0;  ///< calls at once; 0: as many as the processors have room for
  std::size_t cache_bytes = 0;    ///< bytes of the record cache of each core
  std::uint32_t max_list = 1024;
  std::uint32_t max_width = 8;
  std::uint32_t max_probe = 1024;
  search::DiskArguments disk;  ///< for tier ssd
  rpc::TlsFiles tls;           ///< for memory nodes
};

class OpenIndex final : public Searcher {
 public:
  /// Loads what lies in DRAM and opens the tier. Throws Error.
  OpenIndex(const std::string& path, const OpenOptions& options);

  ElementType type() const override { return form_.source_type; }
  std::uint32_t dimension() const override { return manifest().dimension; }
  Metric metric() const override { return form_.metric; }
  bool takes_filters() const override { return index_.attributes() != nullptr; }
  std::string place() const override { return directory_.path().string(); }
  std::optional<std::uint64_t> count() const override { return manifest().count; }
  search::SearchBounds bounds() const override;
  measure::SearchReach reach() const override;
  bool has_exact_distances() const override;
  Answer search(const VectorView& queries, const Call& call) override;
  nlohmann::ordered_json describe() const override;

 private:
  const layout::Manifest& manifest() const { return directory_.manifest(); }

  const OpenOptions options_;
  const layout::IndexDirectory directory_;
  const search::SearchIndex index_;
  const search::RowForm form_;
  tiers::IndexRecords records_;
  const tiers::TierSpecPointer spec_;
  const tiers::IndexOnTier tier_;
  const search::SearchShape shape_;
  const std::unique_ptr<const tiers::CoreSet> cores_;
  CorePool pool_;
};

}  // namespace farvec::python
