// Runs the changes and searches of a runbook on a collection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attributes/condition.h"
#include "cli/runbook/runbook_options.h"
#include "collection/write/collection.h"
#include "layout/collection/collection_manifest.h"
#include "measure/runbook/runbook_index.h"
#include "search/core/search_core.h"

namespace farvec::cli {

struct RunbookCollectionOptions {
  layout::CollectionManifest shape;
  std::string tier;           ///< tier of the segments' records; empty: the usual one
  std::string memory_budget;  ///< for pools of slotted pages; empty: they hold all records
  std::uint32_t probe = 16;   ///< clusters that searches probe, where segments are clusters
  std::string second_tier;    ///< has the second copies; empty: that of the records
  std::uint32_t refine = 0;   ///< see search::RefineChoice

  bool has_second() const { return shape.options.store.has_value(); }
};

class RunbookCollection final : public measure::RunbookIndex {
 public:
  enum class Folder : std::uint8_t { stays, goes };  ///< when the object does

  /// Makes an empty collection in a new folder. Segments are built by as many threads as search.
  /// Throws Error.
  RunbookCollection(const RunbookOptions& run, const RunbookCollectionOptions& options,
                    Folder folder = Folder::stays);
  ~RunbookCollection() override;

  changes::Changing& changing() override { return *collection_; }
  void search(const VectorView& queries, dataset::GroundTruth& results,
              std::vector<float>& latency_us) override;
  std::unique_ptr<measure::RunbookIndex> rebuilt(const changes::RowBatch& batch) const override;
  /// Returns as written what the log and finished segments have taken. Nothing counts as read,
  /// since records are read into memory once.
  measure::DiskBytes disk_bytes() const override;
  std::uint64_t stored_bytes() const override;
  nlohmann::ordered_json describe() const override;

 private:
  search::SearchChoice choice() const;

  const RunbookOptions run_;
  const RunbookCollectionOptions options_;
  const Folder folder_;
  const attributes::ConditionPointer condition_;  ///< null: every row may be a result
  std::unique_ptr<collection::Collection> collection_;
  std::vector<std::unique_ptr<search::SearchCore>> cores_;
};

}  // namespace farvec::cli
