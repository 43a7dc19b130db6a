// Runs the changes and searches of a runbook on a collection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collection/write/collection.h"
#include "layout/collection/collection_manifest.h"
#include "measure/runbook/changing_index.h"
#include "search/core/search_core.h"

namespace farvec::cli {

struct ChangingCollectionOptions {
  std::string folder;
  layout::CollectionManifest shape;
  std::string tier = "dram";  ///< tier of the segments' records
  std::string durability = "commit";
  std::uint32_t list = 40;   ///< list of searches, where segments are graphs
  std::uint32_t probe = 16;  ///< clusters that searches probe, where segments are clusters
  std::uint32_t k = 10;
  std::uint32_t slots = 8;
  std::uint32_t threads = 1;  ///< threads that search; as many build segments
  bool keep = true;           ///< whether the folder stays after the object
};

class ChangingCollection final : public measure::ChangingIndex {
 public:
  /// Makes an empty collection in a new folder. Throws Error.
  explicit ChangingCollection(const ChangingCollectionOptions& options);
  ~ChangingCollection() override;

  void insert(const VectorView& rows, std::span<const NodeId> ids) override;
  void erase(std::span<const NodeId> ids) override;
  void search(const VectorView& queries, dataset::GroundTruth& results,
              std::vector<float>& latency_us) override;
  std::unique_ptr<measure::ChangingIndex> rebuilt(const VectorView& rows,
                                                  std::span<const NodeId> ids) const override;
  /// Returns as written what the log and finished segments have taken. Nothing counts as read,
  /// since records are read into memory once.
  measure::DiskBytes disk_bytes() const override;
  std::uint64_t stored_bytes() const override;
  nlohmann::ordered_json describe() const override;

 private:
  search::SearchChoice choice() const;

  const ChangingCollectionOptions options_;
  std::unique_ptr<collection::Collection> collection_;
  std::vector<std::unique_ptr<search::SearchCore>> cores_;
};

}  // namespace farvec::cli
