#include "measure/advise/setting.h"

#include <fmt/format.h>

#include <algorithm>

#include "quantization/neighbor_codes.h"

namespace farvec::measure {

std::uint32_t GraphBuild::bits(layout::LayoutKind layout) const {
  const auto found = steering.find(layout);
  if (found != steering.end()) return found->second.bits;
  if (layout != layout::LayoutKind::inlined) return code_bits.value_or(4);
  return std::min(code_bits.value_or(1), quantization::NeighborCodes::kMostBits);
}

SearchFamily family_of(const Setting& setting) {
  if (!setting.is_graph()) return SearchFamily::cluster;
  if (setting.is_inline()) return SearchFamily::inlined;
  return setting.is_slotted() ? SearchFamily::slotted : SearchFamily::graph;
}

std::string layout_name(const Setting& setting) {
  return std::string(setting.is_graph() ? to_string(setting.graph_layout)
                                        : to_string(setting.layout));
}

std::string to_string(const Setting& setting) {
  if (!setting.is_graph()) {
    return fmt::format("clusters of {}, R {}, {}", setting.partition.cluster_rows,
                       setting.partition.replicas, layout_name(setting));
  }
  std::string text = fmt::format("graph, degree {}, {}", setting.degree, layout_name(setting));
  if (setting.is_slotted()) text += fmt::format(", {:g}% in memory", setting.memory_percent);
  return text;
}

std::string build_command(const Setting& setting, const IndexedFile& file,
                          const GraphBuild& recipe) {
  const std::string input = fmt::format("--data {} --metric {}", file.path, to_string(file.metric));
  if (setting.is_graph()) {
    return fmt::format(
        "farvec build graph {} --degree {} --list {} --alpha {} --passes {} --code-bits {} "
        "--layout {}{}",
        input, setting.degree, recipe.list, recipe.alpha, recipe.passes,
        recipe.bits(setting.graph_layout), layout_name(setting),
        setting.is_slotted() ? " --payload vector" : "");
  }
  return fmt::format("farvec build cluster {} --cluster-bytes {} --replicas {} --layout {}", input,
                     setting.partition.cluster_rows * file.row_bytes, setting.partition.replicas,
                     layout_name(setting));
}

std::string search_options(const Setting& setting, const GraphBuild& recipe) {
  if (!setting.is_graph()) return "";
  if (!setting.is_slotted()) return fmt::format("--width {}", recipe.width);
  return fmt::format("--width 1 --search best-first --prefetch off --memory-budget {:g}%",
                     setting.memory_percent);
}

}  // namespace farvec::measure
