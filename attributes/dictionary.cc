#include "attributes/dictionary.h"

#include <algorithm>
#include <numeric>

namespace farvec::attributes {
namespace {

/// Returns the first code from `begin` on for which `is_before` is false.
template <typename IsBefore>
std::uint32_t first_not(std::uint32_t begin, std::uint32_t end, const IsBefore& is_before) {
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (is_before(middle)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

}  // namespace

Dictionary::Dictionary(const std::vector<std::string_view>& sorted) {
  std::size_t bytes = 0;
  for (const std::string_view text : sorted) bytes += text.size();
  bytes_.reserve(bytes);
  ends_.reserve(sorted.size());
  for (const std::string_view text : sorted) {
    bytes_ += text;
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
}

std::uint32_t Dictionary::count_below(std::string_view text) const {
  return first_not(0, size(), [&](std::uint32_t code) { return (*this)[code] < text; });
}

std::uint32_t Dictionary::end_of_prefix(std::uint32_t first, std::string_view prefix) const {
  return first_not(first, size(),
                   [&](std::uint32_t code) { return (*this)[code].starts_with(prefix); });
}

std::optional<std::uint32_t> Dictionary::find(std::string_view text) const {
  const std::uint32_t code = count_below(text);
  if (code == size() || (*this)[code] != text) return std::nullopt;
  return code;
}

std::size_t Dictionary::dram_bytes() const {
  return bytes_.capacity() + ends_.capacity() * sizeof(std::uint32_t);
}

std::uint32_t DictionaryBuilder::number_of(std::string_view text) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(copy(text));
  numbers_.emplace(texts_.back(), number);
  return number;
}

std::string_view DictionaryBuilder::copy(std::string_view text) {
  if (text.empty()) return {};
  auto* bytes = static_cast<char*>(memory_.allocate(text.size(), 1));
  std::copy(text.begin(), text.end(), bytes);
  return {bytes, text.size()};
}

std::vector<std::uint32_t> DictionaryBuilder::sorted() const {
  std::vector<std::uint32_t> numbers(texts_.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::sort(numbers.begin(), numbers.end(),
            [&](std::uint32_t one, std::uint32_t other) { return texts_[one] < texts_[other]; });
  return numbers;
}

Dictionary DictionaryBuilder::dictionary() const {
  std::vector<std::string_view> texts;
  texts.reserve(texts_.size());
  for (const std::uint32_t number : sorted()) texts.push_back(texts_[number]);
  return Dictionary(texts);
}

std::vector<std::uint32_t> DictionaryBuilder::codes() const {
  const std::vector<std::uint32_t> numbers = sorted();
  std::vector<std::uint32_t> codes(numbers.size());
  for (std::uint32_t code = 0; code < numbers.size(); ++code) codes[numbers[code]] = code;
  return codes;
}

}  // namespace farvec::attributes
