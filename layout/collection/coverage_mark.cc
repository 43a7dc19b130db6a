#include "layout/collection/coverage_mark.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/check.h"
#include "base/error.h"
#include "layout/collection/struct_file.h"

namespace farvec::layout {
namespace {

constexpr std::uint64_t kCoverageMagic = 0x31'67'76'63'76'61'66;  // "favcvg1"

/// The whole file. The checksum is that of all before it.
struct CoverageBytes {
  std::uint64_t magic;
  std::uint64_t inode;
  std::uint64_t born_ns;
  std::uint64_t covered;
  char index[kMostIndexName];  ///< zeros at its end
  std::uint32_t zero;
  std::uint32_t checksum;
};
static_assert(sizeof(CoverageBytes) == 120 && offsetof(CoverageBytes, checksum) == 116);

CoverageMark decode(const CoverageBytes& bytes) {
  return {std::string(bytes.index, strnlen(bytes.index, kMostIndexName)), bytes.inode,
          bytes.born_ns, bytes.covered};
}

}  // namespace

CoverageMark mark_of(const std::filesystem::path& collection, const std::string& index) {
  struct statx found {};
  if (statx(AT_FDCWD, collection.c_str(), 0, STATX_INO | STATX_BTIME, &found) != 0) {
    throw SystemError(errno, "looking at '{}'", collection.string());
  }
  CoverageMark mark{index, found.stx_ino, 0, 0};
  if ((found.stx_mask & STATX_BTIME) != 0) {
    mark.born_ns = static_cast<std::uint64_t>(found.stx_btime.tv_sec) * 1'000'000'000 +
                   found.stx_btime.tv_nsec;
  }
  return mark;
}

std::optional<CoverageMark> read_coverage(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kCoverageFile;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return decode(read_struct<CoverageBytes>(path, kCoverageMagic, "a mark"));
}

void write_coverage(const std::filesystem::path& folder, const CoverageMark& mark) {
  FARVEC_CHECK(mark.index.size() <= kMostIndexName, "the name '{}' is too long", mark.index);
  CoverageBytes bytes{};
  bytes.magic = kCoverageMagic;
  bytes.inode = mark.inode;
  bytes.born_ns = mark.born_ns;
  bytes.covered = mark.covered;
  std::memcpy(bytes.index, mark.index.data(), mark.index.size());
  write_struct(folder / kCoverageFile, bytes);
}

}  // namespace farvec::layout
