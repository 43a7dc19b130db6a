#include "layout/collection/alias_file.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <unordered_set>

#include "base/check.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "layout/collection/coverage_mark.h"
#include "layout/crc32c.h"

namespace farvec::layout {
namespace {

constexpr std::uint64_t kOldAliasMagic = 0x31'73'6c'61'76'61'66;  // "favals1"
constexpr std::uint64_t kAliasMagic = 0x32'73'6c'61'76'61'66;     // "favals2"

/// After it come the aliases, the ids of rows that have gone, those of rows with tuples of their
/// own, where each of these tuples ends, and the tuples.
struct AliasHeader {
  std::uint64_t magic;
  std::uint64_t aliases;
  std::uint64_t gone;
  std::uint64_t own;
  std::uint64_t tuple_bytes;
  char index[kMostIndexName];  ///< zeros at its end
};
static_assert(sizeof(AliasHeader) == 120);
static_assert(sizeof(Alias) == 16);

/// After all others. The checksum is that of all before it.
struct AliasEnd {
  std::uint32_t zero;
  std::uint32_t checksum;
};
static_assert(sizeof(AliasEnd) == 8);

AliasHeader header_of(const std::string& index, const AliasList& list) {
  FARVEC_CHECK(index.size() <= kMostIndexName, "the name '{}' is too long", index);
  AliasHeader header{};
  header.magic = kAliasMagic;
  header.aliases = list.aliases.size();
  header.gone = list.gone.size();
  header.own = list.own.ids.size();
  header.tuple_bytes = list.own.tuples.bytes.size();
  std::memcpy(header.index, index.data(), index.size());
  return header;
}

std::uint64_t bytes_of(const AliasHeader& header) {
  return sizeof(header) + header.aliases * sizeof(Alias) +
         (header.gone + 2 * header.own) * sizeof(std::uint64_t) + header.tuple_bytes +
         sizeof(AliasEnd);
}

/// The numbers may be any, so that sums of them could be too large.
bool has_size(const AliasHeader& header, std::uint64_t bytes) {
  const std::uint64_t most = bytes / sizeof(std::uint64_t);
  return header.aliases <= most && header.gone <= most && header.own <= most &&
         header.tuple_bytes <= bytes && bytes == bytes_of(header);
}

template <typename T>
std::span<const std::byte> take(std::vector<T>& to, std::size_t count,
                                std::span<const std::byte> from) {
  to.resize(count);
  if (count > 0) std::memcpy(to.data(), from.data(), count * sizeof(T));
  return from.subspan(count * sizeof(T));
}

/// A row has one host, which has a vector of its own.
void check_list(const AliasList& list, const std::string& path) {
  std::unordered_set<std::uint64_t> ids;
  for (const Alias& alias : list.aliases) {
    if (!ids.insert(alias.id).second) throw Error("'{}' has row {} twice", path, alias.id);
    if (alias.host >= alias.id) {
      throw Error("'{}': row {} cannot have the vector of row {}", path, alias.id, alias.host);
    }
  }
  for (const Alias& alias : list.aliases) {
    if (ids.contains(alias.host)) {
      throw Error("'{}': row {} has no vector of its own", path, alias.host);
    }
  }
  std::unordered_set<std::uint64_t> gone;
  for (const std::uint64_t id : list.gone) {
    if (ids.contains(id) || !gone.insert(id).second) {
      throw Error("'{}' has row {} twice", path, id);
    }
  }
}

/// They are those of aliases, and end one after the other.
void check_own(const AliasList& list, const std::string& path) {
  std::unordered_set<std::uint64_t> left;
  for (const Alias& alias : list.aliases) left.insert(alias.id);
  for (const std::uint64_t id : list.own.ids) {
    if (left.erase(id) == 0) throw Error("'{}' has values of row {} too often", path, id);
  }
  const Tuples& tuples = list.own.tuples;
  const std::uint64_t end = tuples.ends.empty() ? 0 : tuples.ends.back();
  if (end != tuples.bytes.size() || !std::ranges::is_sorted(tuples.ends)) {
    throw Error("'{}' has values that do not end where they should", path);
  }
}

}  // namespace

AliasList read_aliases(const std::filesystem::path& folder, const std::string& index) {
  const std::filesystem::path path = folder / kAliasFile;
  if (!std::filesystem::exists(path)) throw Error("there is no '{}'", path.string());
  const InputFile file(path.string());
  AliasHeader header;
  if (file.size() < sizeof(header) + sizeof(AliasEnd)) {
    throw Error("'{}' has {} bytes, which are too few", file.path(), file.size());
  }
  file.read_at(0, &header, sizeof(header));
  if (header.magic == kOldAliasMagic) throw Error("'{}' is an older farvec's", file.path());
  if (header.magic != kAliasMagic || !has_size(header, file.size())) {
    throw Error("'{}' is damaged", file.path());
  }
  std::vector<std::byte> bytes(file.size());
  file.read_at(0, bytes.data(), bytes.size());
  AliasEnd end;
  const std::span<const std::byte> before = std::span(bytes).first(bytes.size() - sizeof(end));
  std::memcpy(&end, bytes.data() + before.size(), sizeof(end));
  if (end.zero != 0 || end.checksum != crc32c(before)) throw Error("'{}' is damaged", file.path());
  const std::string name(header.index, strnlen(header.index, kMostIndexName));
  if (name != index) throw Error("'{}' is that of {}", file.path(), name);
  AliasList list;
  auto rest = take(list.aliases, header.aliases, before.subspan(sizeof(header)));
  rest = take(list.gone, header.gone, rest);
  rest = take(list.own.ids, header.own, rest);
  rest = take(list.own.tuples.ends, header.own, rest);
  take(list.own.tuples.bytes, header.tuple_bytes, rest);
  check_list(list, file.path());
  check_own(list, file.path());
  return list;
}

void write_aliases(const std::filesystem::path& folder, const std::string& index,
                   const AliasList& list) {
  const AliasHeader header = header_of(index, list);
  AliasEnd end{};
  const OwnTuples& own = list.own;
  FARVEC_CHECK(own.ids.size() == own.tuples.count());
  OutputFile file((folder / kAliasFile).string(), bytes_of(header));
  for (const std::span<const std::byte> part :
       {std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(list.aliases)),
        std::as_bytes(std::span(list.gone)), std::as_bytes(std::span(own.ids)),
        std::as_bytes(std::span(own.tuples.ends)), std::span(own.tuples.bytes)}) {
    end.checksum = crc32c(part, end.checksum);
    if (!part.empty()) file.append(part.data(), part.size());
  }
  file.append(&end, sizeof(end));
  file.commit();
}

}  // namespace farvec::layout
