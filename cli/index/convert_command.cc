// The command `farvec convert` writes the graph of an index in another layout.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/index/code_bits_option.h"
#include "indexing/code_bits.h"
#include "indexing/stored_graph.h"
#include "layout/collection/index_companions.h"
#include "layout/index/index_writer.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

struct ConvertArguments {
  std::string index;
  std::string out;
  std::string layout;
  std::optional<std::uint32_t> code_bits;
  bool record_checksum = false;
  bool overwrite = false;
  bool quiet = false;
  bool json = false;
  unsigned threads = 0;
};

void report(const ConvertArguments& arguments, const layout::Manifest& manifest) {
  const std::uint64_t bytes = manifest.region(layout::kRecordsRegion).file_bytes();
  const double amplification =
      static_cast<double>(bytes) / static_cast<double>(manifest.dataset_bytes());
  if (arguments.json) {
    const nlohmann::ordered_json facts{{"index", arguments.out},
                                       {"from", arguments.index},
                                       {"layout", manifest.layout_name()},
                                       {"code_bits", manifest.graph().build.code_bits},
                                       {"record_bytes", bytes},
                                       {"amplification", amplification}};
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print("{}: {} vectors, {} layout, codes of {} bits, records {:.2f} times the data\n",
             arguments.out, manifest.count, manifest.layout_name(),
             manifest.graph().build.code_bits, amplification);
}

void convert(const ConvertArguments& arguments) {
  const layout::LayoutKind layout = layout::parse_layout_kind(arguments.layout);
  if (layout == layout::LayoutKind::slotted) {
    throw Error("--layout slotted: pages are built from the vectors, by farvec build graph");
  }
  const indexing::GraphRecipe recipe{
      layout, indexing::code_bits_of(layout, arguments.code_bits, kCodeBitsOption),
      arguments.record_checksum};
  const layout::WriteOptions options{
      .overwrite = arguments.overwrite, .threads = arguments.threads, .quiet = arguments.quiet};
  const auto directory = layout::IndexDirectory::open(arguments.index);
  if (directory.manifest().is_graph()) {
    indexing::check_degree(layout, directory.manifest().graph().max_degree);
    indexing::require_codes_fit(directory.manifest().stored_type, layout, recipe.code_bits,
                                kCodeBitsOption);
  }
  layout::check_companions(directory, arguments.out);
  layout::check_destination(arguments.out, arguments.overwrite,
                            directory.manifest().dataset_bytes());
  indexing::StoredGraph stored =
      indexing::read_graph(directory, {.threads = options.threads, .quiet = options.quiet});
  const indexing::BuiltGraph built = std::move(stored).built();
  const layout::Manifest manifest = indexing::write_graph(arguments.out, built, recipe, options);
  layout::copy_companions(directory, arguments.out);
  tell_steering(manifest);
  report(arguments, manifest);
}

}  // namespace

void register_convert_command(Command& tool) {
  Command command = tool.add_command("convert", "Write an index's graph in another layout");
  auto arguments = std::make_shared<ConvertArguments>();
  command.add_option("--index", arguments->index, "Graph index to read, in any layout").required();
  command.add_option("--out", arguments->out, "Index directory to make").required();
  command.add_option("--layout", arguments->layout, "csr, packed, inline or padded").required();
  add_code_bits_option(command, arguments->code_bits);
  command.add_flag("--record-checksum", arguments->record_checksum,
                   "4 bytes more per record, checked on every read");
  command.add_option("--threads", arguments->threads, "0: one per processor").show_default();
  command.add_flag("--overwrite", arguments->overwrite, "Replace an index that is already there");
  command.add_flag("--quiet", arguments->quiet, "No progress");
  command.add_flag("--json", arguments->json, "Report as one JSON object");
  command.footer(
      "The same vectors and the same edges, so that layouts and widths of codes can be compared\n"
      "without another build. Memory needed: the records, the vectors and the graph, and for "
      "inline\n"
      "every vector as floats. Slotted pages that hold codes are read only with\n"
      "the vectors beside them.\n"
      "Example:\n  farvec convert --index sift1m.index --layout inline --out sift1m.inline");
  command.callback([arguments] { convert(*arguments); });
}

}  // namespace farvec::cli
