// CollectionChanges are a collection that clients of a compute node change.
#pragma once

#include <memory>
#include <utility>

#include "collection/write/collection.h"
#include "compute_node/service/served_changes.h"

namespace farvec::compute_node {

class CollectionChanges final : public ServedChanges {
 public:
  explicit CollectionChanges(std::shared_ptr<collection::Collection> collection)
      : collection_(std::move(collection)) {}

  changes::Changing& index() override { return *collection_; }
  std::size_t most_rows() const override { return collection_->record_rows(); }
  std::size_t most_ids() const override;
  void tell_state(collection::v1::StatsResponse& out) override;
  std::string blocked_by() const override { return collection_->build_failure(); }

 private:
  const std::shared_ptr<collection::Collection> collection_;
};

}  // namespace farvec::compute_node
