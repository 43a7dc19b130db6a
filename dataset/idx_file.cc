#include "dataset/idx_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "base/error.h"
#include "base/input_file.h"
#include "dataset/shape.h"

namespace farvec::dataset {
namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr unsigned kMaxRank = 4;

/// Reads a file through zlib, which passes uncompressed bytes through.
class GzipStream {
 public:
  explicit GzipStream(const InputFile& file) : path_(file.path()) {
    const int fd = fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) throw SystemError(errno, "opening '{}' for reading", path_);
    file_ = gzdopen(fd, "rb");
    if (file_ == nullptr) {
      close(fd);
      throw Error("no memory to unpack '{}'", path_);
    }
    gzbuffer(file_, 1u << 17);
  }
  ~GzipStream() { gzclose(file_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  bool compressed() { return gzdirect(file_) == 0; }
  void seek(std::uint64_t offset) {
    if (gzseek(file_, static_cast<z_off_t>(offset), SEEK_SET) < 0) fail();
  }
  void read(void* out, std::size_t bytes) {
    constexpr std::size_t kMaxRead = 1u << 30;
    auto* to = static_cast<std::byte*>(out);
    while (bytes > 0) {
      const auto part = static_cast<unsigned>(std::min(bytes, kMaxRead));
      const int got = gzread(file_, to, part);
      if (got <= 0) fail();
      to += got;
      bytes -= static_cast<std::size_t>(got);
    }
  }
  /// Whether nothing follows, and the checksum of the stream is right.
  bool at_end() {
    char extra = 0;
    const int got = gzread(file_, &extra, 1);
    int code = Z_OK;
    // A stream without its checksum reads as 0 bytes and sets only this code.
    gzerror(file_, &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) fail();
    return got == 0;
  }

 private:
  [[noreturn]] void fail() {
    int code = 0;
    const char* text = gzerror(file_, &code);
    throw Error("reading '{}' at unpacked offset {}: {}; fetch it again", path_, gztell(file_),
                code == Z_OK || code == Z_STREAM_END ? "it is truncated" : text);
  }

  std::string path_;
  gzFile file_ = nullptr;
};

class IdxReader final : public VectorReader {
 public:
  explicit IdxReader(const InputFile& file) : VectorReader({}), stream_(file) {
    info_ = {file.path(), "idx", 0, 0, ElementType::u8, file.size(), ""};
    read_header();
    check_shape(info_);
    if (stream_.compressed()) {
      check_compressed_payload(info_, info_.file_bytes);
    } else {
      check_payload(info_, header_bytes_);
    }
  }

 private:
  void read_header() {
    std::array<unsigned char, kMagicBytes> magic{};
    stream_.read(magic.data(), kMagicBytes);
    const unsigned rank = magic[3];
    const bool known = magic[0] == 0 && magic[1] == 0 && (magic[2] == 0x08 || magic[2] == 0x09);
    if (!known || rank < 2 || rank > kMaxRank) {
      throw Error(
          "'{}' is not an IDX file of two to four dimensions of u8 or i8: unpack other kinds of "
          ".gz first",
          info_.path);
    }
    info_.type = magic[2] == 0x08 ? ElementType::u8 : ElementType::i8;
    info_.count = read_size();
    std::uint64_t dimension = 1;
    for (unsigned i = 1; i < rank; ++i) {
      dimension = std::min<std::uint64_t>(dimension * read_size(),
                                          std::numeric_limits<std::uint32_t>::max());
    }
    info_.dimension = static_cast<std::uint32_t>(dimension);
    header_bytes_ = kMagicBytes * (1 + rank);
  }
  std::uint32_t read_size() {
    std::array<unsigned char, 4> bytes{};
    stream_.read(bytes.data(), bytes.size());
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
  }
  void do_read(std::uint64_t begin, std::size_t count, std::byte* out) override {
    stream_.seek(header_bytes_ + begin * info_.row_bytes());
    stream_.read(out, count * info_.row_bytes());
    if (begin + count == info_.count && !stream_.at_end()) {
      throw Error("'{}' goes on after the {} rows its header promises: the header is wrong",
                  info_.path, info_.count);
    }
  }

  GzipStream stream_;
  std::uint64_t header_bytes_ = 0;
};

}  // namespace

bool is_idx_name(std::string_view path) {
  return path.ends_with(".gz") || path.ends_with(".idx") || path.ends_with("-ubyte");
}

std::unique_ptr<VectorReader> open_idx(const std::string& path) {
  return std::make_unique<IdxReader>(InputFile(path));
}

}  // namespace farvec::dataset
