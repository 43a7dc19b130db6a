#include "attributes/match_cache.h"

#include <algorithm>
#include <utility>

namespace farvec::attributes {

MatchCache::Rows MatchCache::rows_of(const std::string& condition,
                                     const std::function<RowBitmap()>& find) {
  if (Rows rows = kept(condition)) return rows;
  RowBitmap found = find();
  found.shrinkToFit();
  const std::size_t bytes = sizeof(Result) + condition.size() + heap_bytes(found);
  auto rows = std::make_shared<const RowBitmap>(std::move(found));
  keep({condition, rows, bytes});
  return rows;
}

std::size_t MatchCache::dram_bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

MatchCache::Rows MatchCache::kept(const std::string& condition) {
  const std::scoped_lock lock(mutex_);
  const auto result = std::find_if(results_.begin(), results_.end(),
                                   [&](const Result& one) { return one.condition == condition; });
  if (result == results_.end()) return nullptr;
  results_.splice(results_.begin(), results_, result);
  return result->rows;
}

void MatchCache::keep(Result result) {
  if (result.bytes > most_bytes_) return;
  const std::scoped_lock lock(mutex_);
  std::erase_if(results_, [&](const Result& one) {
    if (one.condition != result.condition) return false;
    bytes_ -= one.bytes;
    return true;
  });
  bytes_ += result.bytes;
  results_.push_front(std::move(result));
  while (results_.size() > kMostResults || bytes_ > most_bytes_) {
    bytes_ -= results_.back().bytes;
    results_.pop_back();
  }
}

}  // namespace farvec::attributes
