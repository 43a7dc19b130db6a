#include "attributes/row_words.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/memory.h"

namespace farvec::attributes {
namespace {

constexpr std::size_t kWordRows = 64;
constexpr std::size_t kContainerWords = kContainerRows / kWordRows;
/// A container with more rows than this is a bitset, unless it is one of runs.
constexpr std::uint32_t kMostListed = 4096;
constexpr std::uint32_t kCookieWithRuns = 12347;
constexpr std::uint32_t kCookieWithoutRuns = 12346;
/// Fewer containers than this have no table of their places, where some are of runs.
constexpr std::uint32_t kLeastWithPlaces = 4;

/// Reads the library's portable form (github.com/RoaringBitmap/RoaringFormatSpec), which is its one
/// way to hand out whole containers.
class Containers {
 public:
  Containers(const std::vector<char>& bytes, std::vector<std::uint64_t>& words)
      : bytes_(bytes), words_(words) {}

  void read() {
    const auto cookie = take<std::uint32_t>();
    const bool some_runs = (cookie & 0xffff) == kCookieWithRuns;
    FARVEC_CHECK(some_runs || cookie == kCookieWithoutRuns, "cookie {}", cookie);
    const std::uint32_t count = some_runs ? (cookie >> 16) + 1 : take<std::uint32_t>();
    const char* const runs = skip(some_runs ? (count + 7) / 8 : 0);
    const char* const headers = skip(count * 2 * sizeof(std::uint16_t));
    if (!some_runs || count >= kLeastWithPlaces) (void)skip(count * sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < count; ++i) {
      const char* const header = headers + i * 2 * sizeof(std::uint16_t);
      begin_ = std::size_t{load_unaligned<std::uint16_t>(header)} * kContainerWords;
      const std::uint32_t rows = load_unaligned<std::uint16_t>(header + 2) + 1u;
      const bool is_runs = some_runs && (static_cast<unsigned char>(runs[i / 8]) >> (i % 8) & 1);
      if (is_runs) {
        set_runs();
      } else if (rows > kMostListed) {
        set_words();
      } else {
        set_listed(rows);
      }
    }
  }

 private:
  const char* skip(std::size_t bytes) {
    FARVEC_CHECK(bytes <= bytes_.size() - at_, "a bitmap of {} bytes ends early", bytes_.size());
    const char* const begin = bytes_.data() + at_;
    at_ += bytes;
    return begin;
  }
  template <typename T>
  T take() {
    return load_unaligned<T>(skip(sizeof(T)));
  }
  std::uint64_t& word(std::size_t row) {
    const std::size_t at = begin_ + row / kWordRows;
    FARVEC_CHECK(at < words_.size(), "a bitmap has a row after the last one");
    return words_[at];
  }

  void set_words() {
    const char* const from = skip(kContainerWords * sizeof(std::uint64_t));
    const std::size_t words = std::min(kContainerWords, words_.size() - begin_);
    std::memcpy(&word(0), from, words * sizeof(std::uint64_t));
  }
  void set_listed(std::uint32_t rows) {
    const char* const from = skip(rows * sizeof(std::uint16_t));
    for (std::uint32_t i = 0; i < rows; ++i) {
      const auto row = load_unaligned<std::uint16_t>(from + i * sizeof(std::uint16_t));
      word(row) |= std::uint64_t{1} << (row % kWordRows);
    }
  }
  void set_runs() {
    const auto runs = take<std::uint16_t>();
    for (std::uint32_t i = 0; i < runs; ++i) {
      const std::size_t first = take<std::uint16_t>();
      set_range(first, first + take<std::uint16_t>() + 1);
    }
  }
  void set_range(std::size_t first, std::size_t end) {
    for (std::size_t row = first; row < end;) {
      const std::size_t next = std::min(end, (row / kWordRows + 1) * kWordRows);
      const std::uint64_t bits = ~std::uint64_t{0} >> (kWordRows - (next - row));
      word(row) |= bits << (row % kWordRows);
      row = next;
    }
  }

  const std::vector<char>& bytes_;
  std::vector<std::uint64_t>& words_;
  std::size_t at_ = 0;     ///< where the next bytes are read
  std::size_t begin_ = 0;  ///< the first word of the container
};

}  // namespace

void list_rows(const RowBitmap& rows, std::vector<NodeId>& list) {
  list.resize(rows.cardinality());
  rows.toUint32Array(list.data());
}

std::vector<std::uint64_t> words_of(const RowBitmap& rows, std::size_t count) {
  std::vector<std::uint64_t> words((count + kWordRows - 1) / kWordRows);
  std::vector<char> bytes(rows.getSizeInBytes());
  rows.write(bytes.data());
  Containers(bytes, words).read();
  return words;
}

}  // namespace farvec::attributes
