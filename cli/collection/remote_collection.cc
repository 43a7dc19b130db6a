// A collection that a compute node serves, changed by calls of its service.
#include "client/remote_collection.h"

#include <chrono>
#include <exception>
#include <utility>

#include "base/error.h"
#include "base/row_fault.h"
#include "cli/collection/changed_collection.h"
#include "cli/interrupt.h"

namespace farvec::cli {
namespace {

using collection::Receipt;

Receipt to_receipt(const client::ChangeReceipt& receipt) {
  return {.version = receipt.version,
          .done = receipt.done,
          .replaced = receipt.replaced,
          .missing = receipt.missing};
}

class RemoteCollection final : public ChangedCollection {
 public:
  explicit RemoteCollection(const RemoteCollectionOptions& options)
      : attempts_{.deadline = options.deadline,
                  .retries = options.retries,
                  .interrupted = interrupted},
        node_(options.node, {.deadline = options.deadline}) {}

  std::size_t batch_rows() const override { return node_.batch_rows(); }
  std::size_t batch_ids() const override { return node_.batch_ids(); }
  void check(const VectorView& rows, std::span<const std::uint64_t> ids) const override;
  void insert(const VectorView& rows, std::span<const std::uint64_t> ids,
              Receipt& receipt) override {
    receipt = to_receipt(node_.insert(rows, ids, attempts_));
  }
  void erase(std::span<const std::uint64_t> ids, Receipt& receipt) override {
    receipt = to_receipt(node_.erase(ids, attempts_));
  }
  Receipt import(const VectorView&, std::span<const std::uint64_t>) override {
    throw Error("--import makes a segment beside the collection: --collection, not --connect");
  }
  void compact() override;
  collection::BuildProgress making() const noexcept override;
  nlohmann::ordered_json now() const override;

 private:
  const client::Attempts attempts_;
  client::RemoteCollection node_;
};

/// The node checks each call, and knows the metric; here no row is sent before all are finite.
void RemoteCollection::check(const VectorView& rows, std::span<const std::uint64_t> ids) const {
  node_.check(rows);
  if (const auto faulty = find_faulty_row(rows, Metric::cosine)) {
    throw Error("row {} (id {}) {}", faulty->row, ids[faulty->row], to_string(faulty->fault));
  }
}

void RemoteCollection::compact() {
  try {
    node_.compact(attempts_);
  } catch (const WorkInterrupted&) {
    // The node goes on; the command says that it was interrupted.
  }
}

collection::BuildProgress RemoteCollection::making() const noexcept {
  try {
    const auto state = node_.stats({.deadline = std::chrono::seconds(1)});
    return {.segments = state.merge_segments(),
            .rows = state.merge_rows(),
            .linked = state.merge_rows_linked()};
  } catch (const std::exception&) {
    return {};  // who waits for the node finds out what is wrong
  }
}

nlohmann::ordered_json RemoteCollection::now() const {
  const collection::v1::StatsResponse state = node_.stats(attempts_);
  nlohmann::ordered_json json = client::state_json(state);
  if (state.merge_segments() > 0) {
    json["merge"] =
        collection::merge_json(state.merge_phase(), {.segments = state.merge_segments(),
                                                     .rows = state.merge_rows(),
                                                     .linked = state.merge_rows_linked()});
  }
  return json;
}

}  // namespace

std::unique_ptr<ChangedCollection> connect_to_collection(const RemoteCollectionOptions& options) {
  return std::make_unique<RemoteCollection>(options);
}

}  // namespace farvec::cli
