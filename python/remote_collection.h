// A RemoteCollection changes and searches a collection that a compute node serves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "client/remote_collection.h"
#include "python/changing.h"
#include "python/remote_index.h"

namespace farvec::python {

class RemoteCollection final : public Changing {
 public:
  /// Connects and asks what there is. Throws StatusError when nothing answers, or nothing is served
  /// that takes changes. Each call has `retries` retries, a change as well as a search.
  RemoteCollection(const client::NodeAccess& node, std::uint32_t retries);

  ElementType type() const override { return changes_.row_shape().type; }
  std::uint32_t dimension() const override { return changes_.row_shape().dimension; }
  Metric metric() const override { return searches_.metric(); }
  bool takes_filters() const override { return true; }
  std::string place() const override { return searches_.place(); }
  search::SearchBounds bounds() const override { return searches_.bounds(); }
  Answer search(const VectorView& queries, const Call& call) override;
  nlohmann::ordered_json describe() const override;

  changes::Changing& changes() override { return changes_; }
  std::uint64_t live() const override { return changes_.stats(attempts_).rows(); }
  changes::Receipt import(const changes::RowBatch& batch, const Interruption& interrupted) override;
  changes::Receipt import_index(const std::filesystem::path& index, std::uint64_t first_id,
                                const Interruption& interrupted) override;

 private:
  [[noreturn]] void refuse_import() const;

  const client::Attempts attempts_;
  RemoteIndex searches_;
  client::RemoteCollection changes_;
};

}  // namespace farvec::python
