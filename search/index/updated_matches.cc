#include "search/index/updated_matches.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/types.h"

namespace farvec::search {
namespace {

using attributes::RowBitmap;

/// Asks some of the updated rows, and puts each into the bitmap or out of it.
void ask(std::span<const NodeId> rows, const UpdatedMatches::Asked& asked, RowBitmap& matches) {
  for (const NodeId row : rows) {
    const layout::Tuple tuple(asked.updates->find(row));
    if (evaluate(asked.condition, tuple, asked.ids.id_of(row)) == attributes::Truth::yes) {
      matches.add(row);
    } else {
      matches.remove(row);
    }
  }
}

}  // namespace

attributes::MatchCache::Rows UpdatedMatches::rows_of(const attributes::MatchCache::Rows& matches,
                                                     const Asked& asked) {
  const Answer last = kept(asked.text);
  if (last.updates == asked.updates) return last.rows;
  const bool goes_on = last.updates != nullptr && asked.updates->comes_after(*last.updates);
  auto now = std::make_shared<RowBitmap>(goes_on ? *last.rows : *matches);
  ask(goes_on ? asked.updates->rows_beyond(*last.updates) : asked.updates->rows(), asked, *now);
  Answer answer{asked.text, asked.updates, std::move(now)};
  // A search of an older view does not replace what newer ones go on from.
  const bool is_older = last.updates != nullptr && last.updates->comes_after(*asked.updates);
  if (!is_older) keep(answer);
  return answer.rows;
}

UpdatedMatches::Answer UpdatedMatches::kept(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Answer& answer) { return answer.text == text; });
  if (found == kept_.end()) return {};
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front();
}

void UpdatedMatches::keep(Answer answer) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, [&](const Answer& one) { return one.text == answer.text; });
  kept_.push_front(std::move(answer));
  while (kept_.size() > kMost || (kept_.size() > 2 && bytes() > kMostBytes)) kept_.pop_back();
}

std::size_t UpdatedMatches::bytes() const {
  std::set<const layout::UpdatedTuples*> counted;
  std::size_t bytes = 0;
  for (const Answer& answer : kept_) {
    bytes += sizeof(answer) + answer.text.size() + attributes::heap_bytes(*answer.rows);
    if (counted.insert(answer.updates.get()).second) bytes += answer.updates->dram_bytes();
  }
  return bytes;
}

std::size_t UpdatedMatches::dram_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes();
}

}  // namespace farvec::search
