#include "indexing/codes.h"

#include <cstring>

#include "base/progress.h"
#include "graph/entry_points.h"
#include "quantization/split_codes.h"

namespace farvec::indexing {

layout::CodesHeader codes_header(const quantization::RabitqParameters& parameters,
                                 std::uint64_t count) {
  layout::CodesHeader header;
  header.bits = parameters.bits;
  header.dimension = parameters.dimension;
  header.record_bytes = static_cast<std::uint32_t>(
      parameters.bits == quantization::kWholeVectors
          ? packed_bytes(parameters.type, parameters.dimension)
          : quantization::Rabitq::record_bytes(parameters.dimension, parameters.bits));
  header.metric = parameters.metric;
  header.type = parameters.type;
  header.seed = parameters.seed;
  header.count = count;
  header.add_min = parameters.add_min;
  header.add_max = parameters.add_max;
  header.rescale_min = parameters.rescale_min;
  header.rescale_max = parameters.rescale_max;
  header.error_max = parameters.error_max;
  return header;
}

namespace {

/// Returns rows with room for their codes.
EncodedRows without_codes(const quantization::Rabitq& quantizer, std::size_t count) {
  EncodedRows encoded;
  encoded.header = codes_header(quantizer.parameters(), count);
  encoded.centroid = quantizer.parameters().centroid;
  encoded.codes = HugeBuffer(count * quantizer.record_bytes());
  return encoded;
}

}  // namespace

EncodedRows encode_whole(const VectorView& rows, Metric metric, const CodeTraining& training) {
  Progress progress("codes", 2 * rows.count, training.quiet, training.interrupted);
  const RowWork work{training.threads, &progress};
  const quantization::Rabitq quantizer(
      quantization::Rabitq::train(rows, metric, training.bits, training.seed, work));
  EncodedRows encoded = without_codes(quantizer, rows.count);
  quantizer.encode(rows, encoded.codes.data(), work);
  return encoded;
}

EncodedRows encode_split(const VectorView& rows, Metric metric, const CodeTraining& training) {
  Progress progress("codes", 4 * rows.count, training.quiet, training.interrupted);
  const RowWork work{training.threads, &progress};
  const quantization::SplitRabitq split(quantization::SplitRabitq::train(
      rows, metric, {training.bits, training.seed, training.threads, &progress}));
  EncodedRows encoded = without_codes(split.code(), rows.count);
  split.code().encode(rows, encoded.codes.data(), work);
  quantization::describe_extension(split, encoded.header);
  encoded.extensions = HugeBuffer(rows.count * split.extension_bytes());
  split.encode_extensions(rows, encoded.extensions.data(), work);
  return encoded;
}

EncodedRows describe_neighbor_codes(const VectorView& rows, NodeId entry,
                                    const quantization::NeighborCodes& codes) {
  const std::vector<NodeId> entries = graph::spread_entries(entry, rows.count);
  EncodedRows encoded;
  encoded.header = codes_header(codes.parameters(), entries.size());
  encoded.header.record_bytes = static_cast<std::uint32_t>(rows.row_bytes());
  encoded.centroid = codes.parameters().centroid;
  encoded.codes = HugeBuffer(entries.size() * rows.row_bytes());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::memcpy(encoded.codes.data() + i * rows.row_bytes(), rows.row(entries[i]),
                rows.row_bytes());
  }
  return encoded;
}

}  // namespace farvec::indexing
