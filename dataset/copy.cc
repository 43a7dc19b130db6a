#include "dataset/copy.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "base/progress.h"
#include "dataset/finite.h"

namespace farvec::dataset {
namespace {

/// Copies one block at a time from the reader to the writer.
class BlockCopier {
 public:
  BlockCopier(VectorReader& reader, VectorWriter& writer, const CopyOptions& options)
      : reader_(reader),
        writer_(writer),
        options_(options),
        block_rows_(block_rows(reader.info())),
        in_(block_rows_ * reader.info().row_bytes()),
        out_(options.convert ? block_rows_ * writer.shape().row_bytes() : 0) {}

  /// Returns how many of the rows were not finite.
  std::uint64_t copy(const RowRange& range, Progress& progress) {
    std::uint64_t dropped = 0;
    for (std::uint64_t begin = range.begin; begin < range.end; begin += block_rows_) {
      const std::size_t count = std::min<std::uint64_t>(block_rows_, range.end - begin);
      reader_.read_rows(begin, count, in_.data());
      const BlockOrigin origin{reader_.info(), begin, options_.allow_nonfinite};
      const std::size_t kept = keep_finite(origin, count, in_.data());
      write(begin, kept);
      dropped += count - kept;
      progress.advance(count);
    }
    return dropped;
  }

 private:
  void write(std::uint64_t begin, std::size_t count) {
    if (!options_.convert) return writer_.append(in_.data(), count);
    const std::size_t in_bytes = reader_.info().row_bytes();
    const std::size_t out_bytes = writer_.shape().row_bytes();
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* out = out_.data() + i * out_bytes;
      options_.convert(in_.data() + i * in_bytes, out);
      if (!is_finite_row(out, options_.type, reader_.info().dimension)) {
        throw Error("'{}': a value in or after row {} is too large for {}: scale the data first",
                    reader_.info().path, begin + i, to_string(options_.type));
      }
    }
    writer_.append(out_.data(), count);
  }

  VectorReader& reader_;
  VectorWriter& writer_;
  const CopyOptions& options_;
  const std::size_t block_rows_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
};

}  // namespace

CopyResult copy_rows(VectorReader& reader, const std::string& path, const CopyOptions& options) {
  const VectorFileInfo& info = reader.info();
  FARVEC_CHECK(options.convert || options.type == info.type, "a change of type needs a converter");
  std::vector<RowRange> ranges = options.ranges;
  if (ranges.empty()) ranges.push_back({0, info.count});
  std::uint64_t total = 0;
  for (const RowRange& range : ranges) total += range.size();

  const auto writer = create_vectors(path, {total, info.dimension, options.type});
  CopyResult result;
  {
    Progress progress("rows", total, options.quiet);
    BlockCopier copier(reader, *writer, options);
    for (const RowRange& range : ranges) result.dropped += copier.copy(range, progress);
  }
  result.rows = writer->finish();
  return result;
}

}  // namespace farvec::dataset
