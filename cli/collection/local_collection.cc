// Changes a collection of this machine in this process.
#include "cli/collection/changed_collection.h"
#include "cli/interrupt.h"

namespace farvec::cli {
namespace {

using collection::Collection;

/// A batch waits this long for segments to be built.
constexpr double kBatchUs = 600e6;

class LocalCollection final : public ChangedCollection {
 public:
  LocalCollection(const std::string& folder, const measure::CollectionWrite& write, bool quiet)
      : collection_(folder, measure::write_access(write)) {
    tell_recovery(collection_.recovery(), quiet);
  }

  changes::Changing& changes() override { return collection_; }
  changes::Batches batches() const override {
    return {.patience = {.interrupted = interrupted}, .batch_us = kBatchUs};
  }
  changes::Receipt import(const changes::RowBatch& batch) override {
    return collection_.import(batch, interrupted);
  }
  changes::Receipt import_index(const std::string& index, std::uint64_t first_id) override {
    return collection_.import_index(index, first_id, interrupted);
  }
  void settle() override { collection_.settle(); }
  collection::BuildProgress making() const noexcept override {
    const collection::WriterState state = collection_.state();
    for (const auto& made : {state.import, state.merge}) {
      if (made.rows > 0) return made;
    }
    return state.build;
  }

 private:
  Collection collection_;
};

}  // namespace

std::unique_ptr<ChangedCollection> open_collection(const std::string& folder,
                                                   const measure::CollectionWrite& write,
                                                   bool quiet) {
  return std::make_unique<LocalCollection>(folder, write, quiet);
}

}  // namespace farvec::cli
