// Changes a collection that a compute node serves by calls of its service.
#include "client/remote_collection.h"

#include <chrono>
#include <exception>

#include "base/error.h"
#include "cli/collection/changed_collection.h"
#include "cli/interrupt.h"
#include "cli/refusals.h"

namespace farvec::cli {
namespace {

class RemoteCollection final : public ChangedCollection {
 public:
  explicit RemoteCollection(const RemoteCollectionOptions& options)
      : node_(options.node, {.deadline = options.deadline,
                             .retries = options.retries,
                             .refused = tell_refusals()}) {}

  changes::Changing& changes() override { return node_; }
  /// Batches without a time limit of their own: each attempt has the deadline of the options.
  changes::Batches batches() const override { return {.patience = {.interrupted = interrupted}}; }
  changes::Receipt import(const changes::RowBatch&) override {
    throw Error("--import makes a segment beside the collection: --collection, not --connect");
  }
  changes::Receipt import_index(const std::string&, std::uint64_t) override {
    throw Error("--index makes a segment beside the collection: --collection, not --connect");
  }
  collection::BuildProgress making() const noexcept override;

 private:
  client::RemoteCollection node_;
};

collection::BuildProgress RemoteCollection::making() const noexcept {
  try {
    const auto state = node_.stats({.deadline = std::chrono::seconds(1)});
    return {.segments = state.merge_segments(),
            .rows = state.merge_rows(),
            .linked = state.merge_rows_linked()};
  } catch (const std::exception&) {
    return {};  // the call that waits for the node finds out what is wrong
  }
}

}  // namespace

std::unique_ptr<ChangedCollection> connect_to_collection(const RemoteCollectionOptions& options) {
  return std::make_unique<RemoteCollection>(options);
}

}  // namespace farvec::cli
