#include "cli/advice/setting.h"

#include <fmt/format.h>

namespace farvec::cli {

std::string to_string(const Setting& setting) {
  if (setting.kind == layout::IndexKind::graph) {
    return fmt::format("graph, degree {}", setting.degree);
  }
  return fmt::format("clusters of {}, R {}, {}", setting.partition.cluster_rows,
                     setting.partition.replicas, to_string(setting.layout));
}

std::string build_command(const Setting& setting, const IndexedFile& file,
                          const GraphRecipe& recipe) {
  const std::string input = fmt::format("--data {} --metric {}", file.path, to_string(file.metric));
  if (setting.kind == layout::IndexKind::graph) {
    return fmt::format(
        "farvec build graph {} --degree {} --list {} --alpha {} --passes {} --code-bits {} "
        "--layout csr",
        input, setting.degree, recipe.list, recipe.alpha, recipe.passes, recipe.code_bits);
  }
  return fmt::format("farvec build cluster {} --cluster-bytes {} --replicas {} --layout {}", input,
                     setting.partition.cluster_rows * file.row_bytes, setting.partition.replicas,
                     to_string(setting.layout));
}

}  // namespace farvec::cli
