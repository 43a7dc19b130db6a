#include "attributes/text_column.h"

#include <utility>

namespace farvec::attributes {

TextColumn::TextColumn(std::span<const std::string_view> texts, const RowBitmap& nulls) {
  DictionaryBuilder builder;
  std::vector<std::uint64_t> keys(texts.size());
  for (std::uint32_t row = 0; row < texts.size(); ++row) {
    if (!nulls.contains(row)) keys[row] = builder.number_of(texts[row]);
  }
  const std::vector<std::uint32_t> codes = builder.codes();
  for (std::uint32_t row = 0; row < texts.size(); ++row) {
    if (!nulls.contains(row)) keys[row] = codes[keys[row]];
  }
  dictionary_ = builder.dictionary();
  codes_ = PackedKeys(keys, nulls);
}

RowBitmap TextColumn::rows_where(const TextTest& test, const RowBitmap* within) const {
  std::vector<KeyRange> codes;
  for (const std::string& text : test.texts) {
    if (const auto code = dictionary_.find(text)) codes.push_back({*code, *code});
  }
  return codes_.rows_with(KeyRanges(std::move(codes)), within);
}

RowBitmap TextColumn::rows_where(const TextRangeTest& test, const RowBitmap* within) const {
  std::uint32_t begin = 0;
  std::uint32_t end = dictionary_.size();
  if (test.low) {
    begin = dictionary_.count_below(test.low->text);
    if (!test.low->included && dictionary_.find(test.low->text)) ++begin;
  }
  if (test.high) {
    end = dictionary_.count_below(test.high->text);
    if (test.high->included && dictionary_.find(test.high->text)) ++end;
  }
  return rows_between(begin, end, within);
}

RowBitmap TextColumn::rows_where(const PrefixTest& test, const RowBitmap* within) const {
  const std::uint32_t begin = dictionary_.count_below(test.prefix);
  return rows_between(begin, dictionary_.end_of_prefix(begin, test.prefix), within);
}

RowBitmap TextColumn::rows_between(std::uint32_t begin, std::uint32_t end,
                                   const RowBitmap* within) const {
  if (begin >= end) return {};
  return codes_.rows_with(KeyRanges({{begin, end - 1}}), within);
}

}  // namespace farvec::attributes
