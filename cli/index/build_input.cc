#include "cli/index/build_input.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/command_line.h"

namespace farvec::cli {

void add_input_options(Command& command, BuildInput& input) {
  command.add_option("--data", input.data, "Vectors to index").required();
  command.add_option("--metric", input.metric, "l2, ip or cosine; of bits hamming or jaccard")
      .required();
  command.add_option("--name", input.name, "Data set's name in reports [its folder or file]");
  command.add_flag("--allow-nonfinite", input.allow_nonfinite,
                   "Drop rows with NaN or infinite values, or too long for the metric, instead\n"
                   "of refusing the file");
}

dataset::VectorSet load_source(const BuildInput& input) {
  dataset::VectorSet source = dataset::load(
      input.data, {.allow_nonfinite = input.allow_nonfinite, .metric = parse_metric(input.metric)});
  if (source.rounded()) {
    fmt::print(stderr, "{}: holds float64, and its values are rounded to f32\n", input.data);
  }
  if (source.dropped() > 0) {
    fmt::print(stderr,
               "{}: dropped {} rows with NaN or infinite values, or too long; ids count what is "
               "left\n",
               input.data, source.dropped());
  }
  return source;
}

}  // namespace farvec::cli
