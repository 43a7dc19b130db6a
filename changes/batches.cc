#include "changes/batches.h"

namespace farvec::changes {
namespace {

void append(const FoundRows& some, FoundRows& all) {
  all.version = some.version;
  all.found.insert(all.found.end(), some.found.begin(), some.found.end());
  all.rows.insert(all.rows.end(), some.rows.begin(), some.rows.end());
  all.attributes.append(some.attributes.view());
}

}  // namespace

void insert_all(Changing& index, const RowBatch& rows, const Batches& batches, Receipt& receipt) {
  in_batches(rows.ids.size(), index.row_shape().batch_rows, batches,
             [&](std::size_t first, std::size_t count, const Patience& patience) {
               index.insert(rows.part(first, count), patience, receipt);
             });
}

void erase_all(Changing& index, std::span<const std::uint64_t> ids, const Batches& batches,
               Receipt& receipt) {
  in_batches(ids.size(), index.row_shape().batch_ids, batches,
             [&](std::size_t first, std::size_t count, const Patience& patience) {
               index.erase(ids.subspan(first, count), patience, receipt);
             });
}

FoundRows get_all(const Changing& index, std::span<const std::uint64_t> ids,
                  const Batches& batches) {
  FoundRows all;
  in_batches(ids.size(), index.row_shape().batch_gets, batches,
             [&](std::size_t first, std::size_t count, const Patience& patience) {
               while (all.found.size() < first + count) {
                 const std::size_t next = all.found.size();
                 append(index.get(ids.subspan(next, first + count - next), patience), all);
               }
             });
  return all;
}

}  // namespace farvec::changes
