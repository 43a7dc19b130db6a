// The commands `farvec dataset convert` and `farvec dataset sample` copy vectors.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "cli/dataset/bit_conversion.h"
#include "cli/dataset/dataset_commands.h"
#include "cli/dataset/faiss_vectors.h"
#include "dataset/copy.h"
#include "dataset/finite.h"
#include "dataset/groundtruth.h"
#include "dataset/row_selection.h"
#include "distance/distance.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

struct CopyArguments {
  std::string in;
  std::string out;
  std::string type;
  bool allow_nonfinite = false;
  bool quiet = false;
  bool json = false;
};

struct ConvertArguments : CopyArguments {
  bool from_faiss = false;
  BitConversion bits;
};

struct SampleArguments : CopyArguments {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::string rows;
  std::uint64_t seed = 1;
};

/// Returns --type, or what the suffix stands for, or the source's own type.
ElementType output_type(const CopyArguments& arguments, ElementType source) {
  const auto implied = dataset::type_of_suffix(arguments.out);
  if (!arguments.type.empty()) return parse_element_type(arguments.type);
  const ElementType type = implied.value_or(source);
  // Bits are 0 and 1 in every other type.
  const bool exact = type == ElementType::f32 || source == ElementType::b1;
  if (type == source || exact || type == ElementType::b1) return type;
  throw Error("'{}' holds {}, '{}' would hold {}: give --type {} to round and clamp the values",
              arguments.in, to_string(source), arguments.out, to_string(type), to_string(type));
}

dataset::RowConverter converter(ElementType from, ElementType to, std::uint32_t dimension) {
  if (from == to) return nullptr;
  auto wide = std::make_shared<std::vector<float>>(dimension);
  return [=](const std::byte* in, std::byte* out) {
    distance::widen(in, from, dimension, wide->data());
    distance::narrow(wide->data(), to, dimension, out);
  };
}

dataset::RowConverter converter(const CopyArguments& arguments, dataset::VectorReader& reader,
                                const BitConversion& bits, ElementType type) {
  const dataset::VectorFileInfo& info = reader.info();
  if (type == ElementType::b1 && info.type != type) {
    return bits.converter(reader, arguments.out, arguments.allow_nonfinite);
  }
  return converter(info.type, type, info.dimension);
}

void copy(const CopyArguments& arguments, dataset::VectorReader& reader,
          std::vector<dataset::RowRange> ranges, const BitConversion& bits = {}) {
  const dataset::VectorFileInfo& info = reader.info();
  const ElementType type = output_type(arguments, info.type);
  dataset::CopyOptions options{std::move(ranges), type, converter(arguments, reader, bits, type),
                               arguments.allow_nonfinite, arguments.quiet};
  const auto result = dataset::copy_rows(reader, arguments.out, options);
  if (arguments.json) {
    const nlohmann::ordered_json facts{{"out", arguments.out},
                                       {"rows", result.rows},
                                       {"dimension", info.dimension},
                                       {"type", to_string(type)},
                                       {"dropped", result.dropped}};
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print("{}: {} rows of {} {}", arguments.out, result.rows, info.dimension, to_string(type));
  if (result.dropped > 0) fmt::print(", {} rows with NaN or infinity dropped", result.dropped);
  fmt::print("\n");
}

void convert_vectors(const ConvertArguments& arguments, const std::string& in) {
  const auto rows = arguments.bits.presented(dataset::open_vectors(in));
  arguments.bits.check(rows->info(), output_type(arguments, rows->info().type));
  copy(arguments, *rows, {}, arguments.bits);
}

void convert(const ConvertArguments& arguments) {
  if (arguments.from_faiss) {
    const FaissVectors vectors(arguments.in, arguments.out);
    return convert_vectors(arguments, vectors.path());
  }
  if (dataset::is_groundtruth_name(arguments.in) || dataset::is_groundtruth_name(arguments.out)) {
    const auto truth = dataset::read_groundtruth(arguments.in);
    dataset::write_groundtruth(arguments.out, truth);
    return report_groundtruth(arguments.out, truth, arguments.json);
  }
  convert_vectors(arguments, arguments.in);
}

/// Reads a number in the form that options have: "0x10" is 16.
bool read_row(const std::string& text, std::uint64_t& row) {
  char* end = nullptr;
  row = std::strtoull(text.c_str(), &end, 0);
  return !text.empty() && end == text.c_str() + text.size();
}

/// Reads "A:B", the rows from A up to but not including B.
dataset::RowRange parse_rows(const std::string& text, std::uint64_t count) {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || !read_row(text.substr(0, colon), begin) ||
      !read_row(text.substr(colon + 1), end)) {
    throw UsageError("--rows: must be A:B, not '{}'", text);
  }
  if (begin >= end || end > count) {
    throw Error("--rows {} of {} rows: A:B takes the rows from A up to before B", text, count);
  }
  return {begin, end};
}

std::vector<dataset::RowRange> choose_rows(const SampleArguments& arguments,
                                           const dataset::VectorFileInfo& info) {
  if (!arguments.rows.empty()) return {parse_rows(arguments.rows, info.count)};
  if (arguments.first > info.count) {
    throw Error("--first {}: '{}' has {} rows", arguments.first, info.path, info.count);
  }
  if (arguments.first > 0) return {{0, arguments.first}};
  const auto rows = dataset::sample_rows(info.count, arguments.count, arguments.seed);
  return dataset::join_rows(rows, dataset::block_rows(info));
}

void add_copy_options(Command& command, CopyArguments& arguments) {
  command.add_option("in", arguments.in, "File to read").required();
  command.add_option("out", arguments.out, "File to write; its suffix names the format").required();
  command.add_option("--type", arguments.type, "Element type of the output; f16, u8 and i8 round")
      .one_of({"f32", "f16", "u8", "i8", "b1"});
  command.add_flag("--allow-nonfinite", arguments.allow_nonfinite,
                   "Drop rows with NaN or infinity instead of stopping");
  command.add_flag("--quiet", arguments.quiet, "No progress");
  command.add_flag("--json", arguments.json, "Report as one JSON object");
}

}  // namespace

void register_dataset_convert(Command& dataset) {
  auto arguments = std::make_shared<ConvertArguments>();
  Command command =
      dataset.add_command("convert", "Write the same rows in another format, in bounded memory");
  add_copy_options(command, *arguments);
  arguments->bits.add_options(command);
  command.add_flag(
      "--from-faiss", arguments->from_faiss,
      "IN is an index that faiss has written (flat, SQ, HNSW-flat or IVF-flat): its\n"
      "vectors, in the order of their ids. Python's faiss package reads it; FARVEC_PYTHON\n"
      "names the interpreter that has the package [python3]");
  command.footer(
      "Examples:\n"
      "  farvec dataset convert /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz "
      "base.u8bin\n"
      "  farvec dataset convert base.u8bin base.fbin\n"
      "  farvec dataset convert base.fbin base.b1bin --by mean --thresholds means.fbin\n"
      "  farvec dataset convert query.fbin query.b1bin --by means.fbin\n"
      "  farvec dataset convert packbits.npy base.b1bin --packed big --dimension 1000\n"
      "  farvec dataset convert --from-faiss set.faiss base.fbin\n"
      "  farvec dataset convert glove-100-angular.hdf5:neighbors gt100.ibin");
  command.callback([arguments] { convert(*arguments); });
}

void register_dataset_sample(Command& dataset) {
  auto arguments = std::make_shared<SampleArguments>();
  Command command = dataset.add_command("sample", "Write some of the rows, in their order");
  add_copy_options(command, *arguments);
  Command which = command.add_choice("rows", "Which rows, one of");
  which.add_option("--count", arguments->count, "N rows at random, without replacement").positive();
  which.add_option("--first", arguments->first, "The first N rows").positive();
  which.add_option("--rows", arguments->rows, "A:B, the rows from A up to before B");
  command.add_option("--seed", arguments->seed, "Seed of --count").show_default();
  command.footer("Example:\n  farvec dataset sample base.u8bin small.u8bin --count 1000 --seed 7");
  command.callback([arguments] {
    const auto reader = dataset::open_vectors(arguments->in);
    copy(*arguments, *reader, choose_rows(*arguments, reader->info()));
  });
}

}  // namespace farvec::cli
