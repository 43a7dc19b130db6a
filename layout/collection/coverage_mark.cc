#include "layout/collection/coverage_mark.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "layout/crc32c.h"

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

std::uint32_t checksum_of(const CoverageBytes& bytes) {
  return crc32c(std::as_bytes(std::span(&bytes, 1)).first(offsetof(CoverageBytes, checksum)));
}

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
  const std::string text = read_text(path.string(), sizeof(CoverageBytes) + 1, "a mark");
  CoverageBytes bytes;
  if (text.size() != sizeof(bytes)) {
    throw Error("'{}' has {} bytes and should have {}", path.string(), text.size(), sizeof(bytes));
  }
  std::memcpy(&bytes, text.data(), sizeof(bytes));
  if (bytes.magic != kCoverageMagic || bytes.checksum != checksum_of(bytes)) {
    throw Error("'{}' is damaged", path.string());
  }
  return decode(bytes);
}

void write_coverage(const std::filesystem::path& folder, const CoverageMark& mark) {
  FARVEC_CHECK(mark.index.size() <= kMostIndexName, "the name '{}' is too long", mark.index);
  CoverageBytes bytes{};
  bytes.magic = kCoverageMagic;
  bytes.inode = mark.inode;
  bytes.born_ns = mark.born_ns;
  bytes.covered = mark.covered;
  std::memcpy(bytes.index, mark.index.data(), mark.index.size());
  bytes.checksum = checksum_of(bytes);
  OutputFile file((folder / kCoverageFile).string(), sizeof(bytes));
  file.append(&bytes, sizeof(bytes));
  file.commit();
}

}  // namespace farvec::layout
