// A SearcherPart is a part of searchers, one for each slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "search/core/core_part.h"

namespace farvec::search {

/// A Searcher has
///   Status search(const SearchRequest&, SearchAnswer&)   in a fiber
///   std::size_t dram_bytes() const
template <typename Searcher>
class SearcherPart : public CorePart {
 public:
  /// For `request_bytes` see CorePart::request_bytes().
  explicit SearcherPart(std::uint32_t request_bytes = 0) : request_bytes_(request_bytes) {}

  std::uint32_t slots() const override { return static_cast<std::uint32_t>(searchers_.size()); }
  std::uint32_t request_bytes() const override { return request_bytes_; }

  Status search(std::uint32_t slot, const SearchRequest& request, SearchAnswer& answer) override {
    answer.found = 0;
    answer.counts = {};
    answer.coverage = 1;
    return searchers_[slot]->search(request, answer);
  }

  bool poll() override { return false; }

  CoreStatistics statistics() const override {
    CoreStatistics result;
    for (const auto& searcher : searchers_) result.dram_bytes += searcher->dram_bytes();
    return result;
  }

 protected:
  void add_slot(std::unique_ptr<Searcher> searcher) { searchers_.push_back(std::move(searcher)); }

 private:
  const std::uint32_t request_bytes_;
  std::vector<std::unique_ptr<Searcher>> searchers_;
};

}  // namespace farvec::search
