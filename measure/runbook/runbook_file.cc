// Reads runbooks. This is the only file that knows YAML.
#include <yaml-cpp/yaml.h>

#include <map>

#include "base/error.h"
#include "base/input_file.h"
#include "measure/runbook/runbook.h"

namespace farvec::measure {
namespace {

constexpr std::uint64_t kMostRunbookBytes = 64u << 20;

/// The place of a step, which messages name.
struct StepPlace {
  const std::string& path;
  std::uint32_t number;
};

NodeId field(const StepPlace& place, const YAML::Node& step, const char* name) {
  const YAML::Node value = step[name];
  if (!value) throw Error("'{}', step {}: has no '{}'", place.path, place.number, name);
  try {
    return value.as<NodeId>();
  } catch (const YAML::Exception&) {
    throw Error("'{}', step {}: '{}' is no whole number below 2^32", place.path, place.number,
                name);
  }
}

StepKind parse_kind(const StepPlace& place, const YAML::Node& step) {
  const YAML::Node word = step["operation"];
  const std::string name = word && word.IsScalar() ? word.Scalar() : "";
  for (const auto kind : {StepKind::insert, StepKind::erase, StepKind::replace, StepKind::search}) {
    if (name == to_string(kind)) return kind;
  }
  throw Error("'{}', step {}: operation '{}' is none of insert, delete, replace, search",
              place.path, place.number, name);
}

/// Both ends of [begin, end).
struct StepRange {
  NodeId begin;
  NodeId end;
};

StepRange range(const StepPlace& place, const YAML::Node& step, const std::string& stem) {
  const StepRange rows{field(place, step, (stem + "start").c_str()),
                       field(place, step, (stem + "end").c_str())};
  if (rows.begin < rows.end) return rows;
  throw Error("'{}', step {}: from {} to {} is no range", place.path, place.number, rows.begin,
              rows.end);
}

RunbookStep parse_step(const StepPlace& place, const YAML::Node& node) {
  if (!node.IsMap()) throw Error("'{}', step {}: has no operation", place.path, place.number);
  RunbookStep step{.number = place.number, .kind = parse_kind(place, node)};
  if (step.kind == StepKind::search) return step;
  const bool replaces = step.kind == StepKind::replace;
  const StepRange rows = range(place, node, replaces ? "ids_" : "");
  step.begin = rows.begin;
  step.end = rows.end;
  step.first_id = rows.begin;
  if (!replaces) return step;
  const StepRange tags = range(place, node, "tags_");
  step.first_id = tags.begin;
  if (tags.end - tags.begin == step.count()) return step;
  throw Error("'{}', step {}: replaces {} ids by {} rows", place.path, place.number,
              tags.end - tags.begin, step.count());
}

/// Returns the steps by their numbers; keys that are no number are other facts of the data set.
std::map<std::uint32_t, YAML::Node> numbered(const std::string& path, const YAML::Node& dataset) {
  std::map<std::uint32_t, YAML::Node> steps;
  for (const auto& entry : dataset) {
    std::uint32_t number = 0;
    if (!YAML::convert<std::uint32_t>::decode(entry.first, number)) continue;
    if (steps.emplace(number, entry.second).second) continue;
    throw Error("'{}': has two steps {}", path, number);
  }
  return steps;
}

Runbook parse_dataset(const std::string& path, const std::string& name, const YAML::Node& node) {
  Runbook runbook{.dataset = name};
  if (node["max_pts"]) runbook.max_points = field({path, 0}, node, "max_pts");
  for (const auto& [number, step] : numbered(path, node)) {
    if (number != runbook.steps.size() + 1) {
      throw Error("'{}': step {} follows step {}; steps are numbered 1, 2, 3, ...", path, number,
                  runbook.steps.size());
    }
    runbook.steps.push_back(parse_step({path, number}, step));
  }
  if (runbook.steps.empty()) throw Error("'{}': '{}' has no steps", path, name);
  return runbook;
}

Runbook choose(const std::string& path, const std::string& dataset, const YAML::Node& root) {
  if (!root.IsMap() || root.size() == 0) {
    throw Error("'{}' is no runbook: it does not begin with the name of a data set", path);
  }
  std::string names;
  for (const auto& entry : root) {
    const std::string name = entry.first.as<std::string>();
    if (!entry.second.IsMap()) throw Error("'{}': '{}' has no steps", path, name);
    if (name == dataset || (dataset.empty() && root.size() == 1)) {
      return parse_dataset(path, name, entry.second);
    }
    names += (names.empty() ? "" : ", ") + name;
  }
  if (dataset.empty()) {
    throw Error("'{}' has runbooks for {}: choose one with --dataset", path, names);
  }
  throw Error("'{}' has no runbook for '{}', but for {}", path, dataset, names);
}

}  // namespace

Runbook read_runbook(const std::string& path, const std::string& dataset) {
  const std::string text = read_text(path, kMostRunbookBytes, "a runbook");
  try {
    return choose(path, dataset, YAML::Load(text));
  } catch (const YAML::Exception& error) {
    throw Error("'{}' is no YAML: {}", path, error.what());
  }
}

}  // namespace farvec::measure
