// A RemoteIndex searches an index or a collection that a compute node serves.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "client/remote_node.h"
#include "layout/attributes/schema.h"
#include "python/searcher.h"

namespace farvec::python {

class RemoteIndex final : public Searcher {
 public:
  /// Connects and asks what there is. Throws StatusError (unavailable) when nothing answers or
  /// nothing is served.
  RemoteIndex(client::NodeAccess node, std::uint32_t retries);

  ElementType type() const override;
  std::uint32_t dimension() const override { return served_.dimension(); }
  Metric metric() const override;
  bool takes_filters() const override { return true; }
  std::string place() const override { return "grpc://" + node_.address; }
  search::SearchBounds bounds() const override { return client::limits_of(served_); }
  measure::SearchReach reach() const override {
    return {.bounds = bounds(),
            .clusters_have_lists = served_.refines() || served_.code_bits() > 0};
  }
  Answer search(const VectorView& queries, const Call& call) override;
  nlohmann::ordered_json describe() const override;

 private:
  std::shared_ptr<const layout::Schema> schema_with(const std::vector<std::string>& names);

  const client::NodeAccess node_;
  const std::uint32_t retries_;
  const std::unique_ptr<compute_node::v1::ComputeNode::Stub> stub_;
  const compute_node::v1::DescribeResponse served_;
  std::mutex mutex_;
  /// The columns of which the node has told so far, none where it serves no collection. Guarded by
  /// mutex_.
  std::shared_ptr<const layout::Schema> schema_;
};

}  // namespace farvec::python
