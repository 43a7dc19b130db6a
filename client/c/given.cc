#include "client/c/given.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/file_names.h"

namespace farvec::c {
namespace {

constexpr std::size_t kMostStructBytes = 4096;
constexpr std::uint32_t kUsualList = 64;
constexpr std::uint32_t kUsualProbe = 16;
constexpr std::uint32_t kFlags = FARVEC_EXACT | FARVEC_PARTIAL | FARVEC_CANDIDATES | FARVEC_WITHIN;

template <typename... Args>
[[noreturn]] void throw_invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw StatusError(StatusCode::invalid_argument, format, std::forward<Args>(args)...);
}

ElementType given_type(std::int32_t type, const char* name) {
  if (type < 0 || static_cast<std::size_t>(type) >= kElementTypes.size()) {
    throw_invalid("{}.type: it is {}, which is no farvec_type", name, type);
  }
  return static_cast<ElementType>(type);
}

void add_columns(const farvec_search_options& options, search::AskedSearch& asked) {
  if (options.column_count == 0) return;
  (void)required(options.columns, "options.columns");
  for (std::size_t i = 0; i < options.column_count; ++i) {
    const char* const name = "a name in options.columns";
    asked.select.push_back(given_utf8(&required(options.columns[i], name), name));
  }
}

void add_bound(const farvec_search_options& options, search::AskedSearch& asked) {
  if ((options.flags & FARVEC_WITHIN) == 0) return;
  if (std::isnan(options.within)) throw_invalid("options.within: it is NaN, which is no distance");
  asked.within = options.within;
}

}  // namespace

void refuse_null(const char* name) {
  throw_invalid("{}: it is a null pointer", name);
}

void check_size(std::size_t size, const char* name) {
  if (size >= sizeof(std::size_t) && size <= kMostStructBytes) return;
  throw_invalid("{}.size: it is {}: set it to the sizeof of the struct", name, size);
}

void check_unknown(const void* bytes, std::size_t count, const char* name) {
  const auto* const begin = static_cast<const char*>(bytes);
  if (std::all_of(begin, begin + count, [](char byte) { return byte == 0; })) return;
  throw_invalid(
      "{}: it has a member that farvec {} does not know: leave it at 0, or use a newer "
      "library",
      name, FARVEC_VERSION);
}

Wait given_wait(const farvec_wait* wait) {
  const farvec_wait given = sized_copy(wait, "wait");
  Wait made{.interrupted = given.interrupted, .context = given.context};
  if (given.deadline_ms != 0) made.deadline = std::chrono::milliseconds(given.deadline_ms);
  return made;
}

std::string given_text(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

std::string given_utf8(const char* text, const char* name) {
  std::string copy = given_text(text);
  if (!is_utf8(copy)) throw_invalid("{}: it is no UTF-8", name);
  return copy;
}

GivenVectors::GivenVectors(const farvec_vectors* vectors, const char* name)
    : count_(required(vectors, name).count),
      dimension_(vectors->dimension),
      type_(given_type(vectors->type, name)) {
  if (dimension_ == 0 || dimension_ > max_dimension(type_)) {
    throw_invalid("{}.dimension: it is {}, where 1 to {} can be", name, dimension_,
                  max_dimension(type_));
  }
  if (count_ == 0) return;
  const std::size_t row_bytes = packed_bytes(type_, dimension_);
  if (count_ > std::numeric_limits<std::ptrdiff_t>::max() / row_bytes) {
    throw_invalid("{}.count: {} rows of {} bytes are more than any memory has", name, count_,
                  row_bytes);
  }
  if (vectors->data == nullptr) throw_invalid("{}.data: it is a null pointer", name);
  const auto* const begin = static_cast<const std::byte*>(vectors->data);
  bytes_.assign(begin, begin + count_ * row_bytes);
}

std::vector<std::uint64_t> given_ids(const std::uint64_t* ids, std::size_t count) {
  if (count == 0) return {};
  (void)required(ids, "ids");
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / sizeof *ids) {
    throw_invalid("ids: {} are more than any memory has", count);
  }
  std::vector<std::uint64_t> copy(ids, ids + count);
  const auto none = std::ranges::find(copy, FARVEC_NO_ID);
  if (none != copy.end()) {
    throw_invalid("ids: number {} is {}, which stands for no row", none - copy.begin(), *none);
  }
  return copy;
}

GivenAttributes given_attributes(const char* const* attributes, std::size_t count) {
  GivenAttributes rows;
  if (attributes == nullptr) return rows;
  rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(attributes[i] == nullptr ? std::nullopt
                                            : std::optional<std::string>(attributes[i]));
  }
  return rows;
}

search::AskedSearch given_search(const farvec_search_options* options) {
  const farvec_search_options given = sized_copy(options, "options");
  if ((given.flags & ~kFlags) != 0) {
    throw_invalid("options.flags: {} has a flag that farvec {} does not know", given.flags,
                  FARVEC_VERSION);
  }
  search::AskedSearch asked;
  asked.k = given.k;
  asked.list = given.list;
  asked.width = std::max(given.width, 1u);
  asked.probing.clusters = given.probe;
  if (given.prune_ratio != 0) asked.probing.prune_ratio = given.prune_ratio;
  asked.refine = given.refine;
  asked.exact = (given.flags & FARVEC_EXACT) != 0;
  asked.partial = (given.flags & FARVEC_PARTIAL) != 0;
  asked.candidates = (given.flags & FARVEC_CANDIDATES) != 0;
  asked.filter = given_utf8(given.filter, "options.filter");
  add_bound(given, asked);
  add_columns(given, asked);
  return asked;
}

void complete(search::AskedSearch& asked, const search::SearchBounds& most) {
  const bool within = asked.within < std::numeric_limits<float>::infinity();
  if (asked.k == 0) asked.k = search::usual_k(within, most);
  if (asked.list == 0) asked.list = std::max(std::min(kUsualList, most.list), asked.k);
  if (asked.probing.clusters == 0) {
    asked.probing.clusters = std::min(kUsualProbe, std::max(most.clusters, 1u));
  }
}

}  // namespace farvec::c
