#include "cli/dataset/bit_conversion.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "dataset/packed_bits.h"
#include "distance/distance.h"
#include "indexing/bit_thresholds.h"
#include "quantization/reduction.h"

namespace farvec::cli {
namespace {

std::vector<float> thresholds_by(const std::string& by, dataset::VectorReader& rows,
                                 bool allow_nonfinite) {
  if (const auto rule = find_bit_rule(by)) {
    return indexing::bit_thresholds(rows, *rule, allow_nonfinite);
  }
  return indexing::read_bit_thresholds(by, rows.info().dimension);
}

}  // namespace

void BitConversion::add_options(Command& command) {
  command.add_option(
      "--by", by,
      "Make bits (b1) of numbers, set where a value is above a threshold: sign (0),\n"
      "mean or median (of its dimension), or a file of one row of thresholds");
  command.add_option("--thresholds", thresholds,
                     "Write the thresholds of --by to this file, for the --by of other files");
  command
      .add_option("--packed", packed,
                  "The bytes of the file of u8 are packed bits: big (numpy.packbits, PostgreSQL)\n"
                  "or little (farvec) says which bit of a byte comes first")
      .one_of({"big", "little"});
  command.add_option("--dimension", dimension,
                     "Bits of a row that --packed reads [8 for each byte]");
}

std::unique_ptr<dataset::VectorReader> BitConversion::presented(
    std::unique_ptr<dataset::VectorReader> rows) const {
  if (packed.empty()) {
    if (dimension) throw UsageError("--dimension: is only for --packed");
    return rows;
  }
  if (!by.empty()) throw UsageError("--by excludes --packed");
  const dataset::BitOrder order = dataset::parse_bit_order(packed);
  if (rows->info().type != ElementType::b1) {
    return dataset::read_packed_bits(std::move(rows), order, dimension);
  }
  if (dimension) throw UsageError("--dimension: is only for bits that --packed reads");
  return dataset::read_bits_as_bytes(std::move(rows), order);
}

void BitConversion::check(const dataset::VectorFileInfo& rows, ElementType to) const {
  if (by.empty() && !thresholds.empty()) throw UsageError("--thresholds: is only for --by");
  if (!by.empty() && to != ElementType::b1) {
    throw UsageError("--by: makes bits (b1), and the output holds {}: use .b1bin", to_string(to));
  }
  if (!by.empty() && rows.type == to) {
    throw Error("'{}' holds bits (b1) already: --by is for numbers", rows.path);
  }
  if (!packed.empty() && rows.type == ElementType::u8 && to != ElementType::u8) {
    throw UsageError("--packed: writes bits as bytes of u8, and the output holds {}",
                     to_string(to));
  }
}

dataset::RowConverter BitConversion::converter(dataset::VectorReader& rows, const std::string& out,
                                               bool allow_nonfinite) const {
  const dataset::VectorFileInfo& info = rows.info();
  if (by.empty()) {
    throw Error(
        "'{}' holds {}, '{}' would hold bits: say with 'farvec dataset convert --by sign', mean, "
        "median or a file of thresholds which values are set bits{}",
        info.path, to_string(info.type), out,
        info.type == ElementType::u8 ? "; --packed is for bytes that are bits already" : "");
  }
  auto values = thresholds_by(by, rows, allow_nonfinite);
  if (!thresholds.empty()) indexing::write_bit_thresholds(thresholds, values);
  return [type = info.type, values = std::move(values), wide = std::vector<float>(info.dimension)](
             const std::byte* in, std::byte* bits) mutable {
    distance::widen(in, type, static_cast<std::uint32_t>(wide.size()), wide.data());
    quantization::to_bits(wide, values, bits);
  };
}

}  // namespace farvec::cli
