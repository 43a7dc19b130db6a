// The different strings of a column, ascending: a string's code is its place among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace farvec::attributes {

class Dictionary {
 public:
  Dictionary() = default;
  /// Takes strings that ascend, each once, with at most 4 GiB in all.
  explicit Dictionary(const std::vector<std::string_view>& sorted);

  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  std::string_view operator[](std::uint32_t code) const {
    const std::uint32_t begin = code == 0 ? 0 : ends_[code - 1];
    return std::string_view(bytes_).substr(begin, ends_[code] - begin);
  }
  std::optional<std::uint32_t> find(std::string_view text) const;
  /// Returns the number of strings that are less than `text`.
  std::uint32_t count_below(std::string_view text) const;
  /// Returns the code of the first string, from `first` on, that does not begin with `prefix`,
  /// where those that do come first.
  std::uint32_t end_of_prefix(std::uint32_t first, std::string_view prefix) const;
  std::size_t dram_bytes() const;

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

/// Gives strings numbers in the order in which they first come, and codes once all are known. Its
/// copies of the strings lie close together.
class DictionaryBuilder {
 public:
  std::uint32_t number_of(std::string_view text);
  Dictionary dictionary() const;
  /// Returns the code of each number.
  std::vector<std::uint32_t> codes() const;

 private:
  std::vector<std::uint32_t> sorted() const;

  std::string_view copy(std::string_view text);

  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::unordered_map<std::string_view, std::uint32_t> numbers_{&memory_};
  std::vector<std::string_view> texts_;
};

}  // namespace farvec::attributes
