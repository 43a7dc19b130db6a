#include "layout/collection/alias_file.h"

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

constexpr std::uint64_t kAliasMagic = 0x31'73'6c'61'76'61'66;  // "favals1"

struct AliasHeader {
  std::uint64_t magic;
  std::uint64_t aliases;
  std::uint64_t gone;
  char index[kMostIndexName];  ///< zeros at its end
};
static_assert(sizeof(AliasHeader) == 104);
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
  std::memcpy(header.index, index.data(), index.size());
  return header;
}

/// The numbers may be any, so that sums of them could be too large.
bool has_size(const AliasHeader& header, std::uint64_t bytes) {
  const std::uint64_t most = bytes / sizeof(std::uint64_t);
  if (header.aliases > most || header.gone > most) return false;
  return bytes == sizeof(AliasHeader) + header.aliases * sizeof(Alias) +
                      header.gone * sizeof(std::uint64_t) + sizeof(AliasEnd);
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
  const auto rest = take(list.aliases, header.aliases, before.subspan(sizeof(header)));
  take(list.gone, header.gone, rest);
  check_list(list, file.path());
  return list;
}

void write_aliases(const std::filesystem::path& folder, const std::string& index,
                   const AliasList& list) {
  const AliasHeader header = header_of(index, list);
  AliasEnd end{};
  OutputFile file((folder / kAliasFile).string(),
                  sizeof(header) + list.aliases.size() * sizeof(Alias) +
                      list.gone.size() * sizeof(std::uint64_t) + sizeof(end));
  for (const std::span<const std::byte> part :
       {std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(list.aliases)),
        std::as_bytes(std::span(list.gone))}) {
    end.checksum = crc32c(part, end.checksum);
    if (!part.empty()) file.append(part.data(), part.size());
  }
  file.append(&end, sizeof(end));
  file.commit();
}

}  // namespace farvec::layout
