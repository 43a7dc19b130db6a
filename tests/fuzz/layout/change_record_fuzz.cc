// Any bytes are a record of a collection's log, which says all of them; or an Error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/check.h"
#include "layout/collection/change_record.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/layout/collection_fuzz.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

RowChangeRecord again_of(const RowChanges& changes) {
  switch (changes.kind) {
    case RowChangeKind::erase:
      return RowChangeRecord::erase(changes.version, changes.ids);
    case RowChangeKind::update:
      return RowChangeRecord::update(changes.version, changes.ids, changes.attributes());
    case RowChangeKind::insert:
    case RowChangeKind::attributed_insert:
      break;
  }
  return RowChangeRecord::insert(changes.version, changes.ids, changes.rows, changes.attributes());
}

/// Makes the same bytes again.
void expect_said(const RowChanges& changes, std::span<const std::byte> record) {
  FARVEC_CHECK(std::set(changes.ids.begin(), changes.ids.end()).size() == changes.ids.size());
  const RowChangeRecord again = again_of(changes);
  for (const auto part : again.parts()) {
    FARVEC_CHECK(std::ranges::equal(part, record.first(part.size())));
    record = record.subspan(part.size());
  }
  FARVEC_CHECK(record.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < sizeof(fuzz::ChangeInput)) return 0;
  const auto input = load_unaligned<fuzz::ChangeInput>(data);
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(sizeof(input));
  std::vector<std::byte> memory(input.shift % 8);
  const std::size_t begin = memory.size();
  memory.insert(memory.end(), bytes.begin(), bytes.end());
  const auto record = std::span<const std::byte>(memory).subspan(begin);
  static const Schema schema = fuzz::change_schema();
  const bool attributed = (input.type & fuzz::kAttributedChange) != 0;
  const StoredShape shape{static_cast<ElementType>(input.type % 4), input.dimension,
                          attributed ? schema : Schema()};
  fuzz::expect_error_at_most(
      [&] { expect_said(decode_row_changes(record, shape, "fuzz"), record); });
  return 0;
}
