// An OpenCollection is a collection of this machine, opened to be changed and searched.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "collection/write/collection.h"
#include "python/changing.h"
#include "python/core_pool.h"

namespace farvec::python {

struct CollectionOpening {
  std::string tier;           ///< tier of the segments' records; empty: the usual one
  std::string second_tier;    ///< that of the segments' second copies; empty: `tier`
  std::string memory_budget;  ///< for pools of slotted pages; empty: they hold all records
  std::string durability = "commit";
  std::uint32_t build_threads = 1;
  std::uint32_t slots = 16;
  std::uint32_t concurrency = 0;  ///< searches of Python's threads at once; 0: one per processor
  std::uint32_t max_list = 1024;
  std::uint32_t max_width = 8;
  std::uint32_t max_probe = 1024;

  bool operator==(const CollectionOpening&) const = default;
};

class OpenCollection final : public Changing {
 public:
  /// Opens the collection. Throws Error when another process has it open, or something is damaged.
  OpenCollection(const std::string& folder, const CollectionOpening& opening);

  ElementType type() const override { return collection_.shape().source_type; }
  std::uint32_t dimension() const override { return collection_.shape().dimension; }
  Metric metric() const override { return collection_.shape().metric; }
  bool takes_filters() const override { return true; }
  std::string place() const override { return folder_; }
  std::optional<std::uint64_t> count() const override { return live(); }
  search::SearchBounds bounds() const override;
  Answer search(const VectorView& queries, const Call& call) override;
  nlohmann::ordered_json describe() const override;

  changes::Changing& changes() override { return collection_; }
  std::uint64_t live() const override { return collection_.view()->live(); }
  changes::Receipt import(const changes::RowBatch& batch,
                          const Interruption& interrupted) override {
    return collection_.import(batch, interrupted);
  }
  changes::Receipt import_index(const std::filesystem::path& index, std::uint64_t first_id,
                                const Interruption& interrupted) override {
    return collection_.import_index(index, first_id, interrupted);
  }

 private:
  const std::string folder_;
  const CollectionOpening opening_;
  collection::Collection collection_;
  CorePool pool_;
};

}  // namespace farvec::python
