#include "search/index/further_matches.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace farvec::search {

using attributes::RowBitmap;
using Rows = attributes::MatchCache::Rows;

Rows FurtherMatches::rows_of(const Rows& matches, const FurtherRows& further, const Find& find) {
  if (further.ids.empty()) return matches;
  if (Rows known = kept(matches, further.number)) return known;
  std::vector<NodeId> rows;
  find(further.ids, rows);
  if (rows.empty()) return matches;
  std::sort(rows.begin(), rows.end());
  auto all = std::make_shared<RowBitmap>(*matches);
  all->addMany(rows.size(), rows.data());
  const std::lock_guard lock(mutex_);
  kept_.push_front({matches, further.number, all});
  if (kept_.size() > kMost) kept_.pop_back();
  return all;
}

Rows FurtherMatches::kept(const Rows& matches, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Answer& answer) {
    return answer.matches == matches && answer.number == number;
  });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front().rows;
}

std::size_t FurtherMatches::dram_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const Answer& answer : kept_) bytes += sizeof(answer) + attributes::heap_bytes(*answer.rows);
  return bytes;
}

}  // namespace farvec::search
