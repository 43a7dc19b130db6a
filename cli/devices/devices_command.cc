// The command `farvec devices` handles the memory devices of this machine, and the indexes on them.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "cli/commands.h"
#include "cli/devices/device_report.h"
#include "cli/index/inspection.h"
#include "device/pmem_memory.h"
#include "device/stored_index.h"
#include "measure/report/json_text.h"

namespace farvec::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    R"(A device is a /dev/daxX.Y (CXL or persistent memory in devdax mode) or a file: on a file system with
DAX it is memory, on any other one it stands for a device in trials. docs/operate/devices.md goes
from ndctl, daxctl and cxl to the first search.
Example:
  farvec devices list
  farvec devices format /dev/dax0.0
  farvec devices load --index sift1m.index /dev/dax0.0
  farvec search --index sift1m.index --tier devdax:/dev/dax0.0 --queries query.u8bin --k 10)";

struct DevicesArguments {
  std::vector<std::string> paths;
  std::string path;
  std::string index;
  std::string name;
  std::string bytes;
  std::uint32_t node = 0;
  unsigned threads = 0;
  bool force = false;
  bool trust = false;
  bool allow_bad_blocks = false;
  bool quiet = false;
  bool json = false;
};

void list_here(const DevicesArguments& arguments) {
  Json all = Json::array();
  if (!arguments.json) print_devices_header();
  for (const device::FoundDevice& found : device::list_devices()) {
    std::optional<DeviceContents> contents;
    if (found.mode == "devdax") contents = look_into(found.path);
    if (arguments.json) {
      all.push_back(to_json(found));
      if (contents) all.back()["contents"] = to_json(*contents);
      continue;
    }
    print_device(found);
    if (contents) print_contents(*contents);
  }
  if (arguments.json) fmt::print("{}\n", measure::json_text(all, 2));
}

/// Lists the named paths. Throws Error when one of them cannot be read.
void list_paths(const DevicesArguments& arguments) {
  Json all = Json::array();
  std::string problem;
  for (const std::string& path : arguments.paths) {
    const DeviceContents contents = look_into(path);
    if (contents.store == nullptr) problem = contents.problem;
    if (arguments.json) {
      all.push_back({{"path", path}});
      all.back().update(to_json(contents));
    } else {
      fmt::print("{}\n", path);
      print_contents(contents);
    }
  }
  if (arguments.json) fmt::print("{}\n", measure::json_text(all, 2));
  if (!problem.empty()) throw Error("{}", problem);
}

device::StoreOptions writer(const DevicesArguments& arguments) {
  return {.access = device::MemoryAccess::read_write,
          .allow_bad_blocks = arguments.allow_bad_blocks,
          .allow_unsafe = arguments.trust};
}

/// Formats a device or file. A file that this command makes is removed when formatting fails.
void format(const DevicesArguments& arguments) {
  const bool make = !arguments.bytes.empty();
  if (make) device::create_pmem_file(arguments.path, parse_bytes(arguments.bytes, "--bytes"));
  try {
    device::DeviceStore::format(
        device::open_pmem(arguments.path, {.access = device::MemoryAccess::read_write,
                                           .allow_bad_blocks = arguments.allow_bad_blocks}),
        arguments.force);
  } catch (...) {
    if (make) std::filesystem::remove(arguments.path);
    throw;
  }
  if (arguments.json) {
    fmt::print("{}\n", measure::json_text(to_json(look_into(arguments.path)), 2));
    return;
  }
  fmt::print("{}\n", arguments.path);
  print_contents(look_into(arguments.path));
}

void load(const DevicesArguments& arguments) {
  const auto index = layout::IndexDirectory::open(arguments.index);
  if (arguments.node >= index.manifest().memory_nodes()) {
    throw Error("--node {}: the index '{}' has nodes 0 to {}", arguments.node, arguments.index,
                index.manifest().memory_nodes() - 1);
  }
  const auto store = device::open_store(arguments.path, writer(arguments));
  const layout::LoadOptions options{.threads = arguments.threads, .quiet = arguments.quiet};
  auto stored = device::StoredIndex::find(store, index, arguments.node);
  const bool already = stored != nullptr;
  if (!already) {
    stored = device::store_index(store, index, arguments.node, arguments.name, options);
  }
  if (arguments.json) {
    fmt::print("{}\n", measure::json_text(to_json(look_into(arguments.path)), 2));
  } else {
    fmt::print("{} lies on {}{}, {} bytes\n", index_name(stored->entry()), arguments.path,
               already ? " already" : "", grouped(stored->entry().taken_bytes()));
  }
}

/// Prints what a check found, one line for each index.
class Findings {
 public:
  explicit Findings(bool json) : json_(json) {}

  void whole(const std::string& name) {
    ++whole_;
    if (!json_) fmt::print("{}: whole\n", name);
    indexes_.push_back({{"index", name}, {"whole", true}});
  }
  void damaged(const std::string& name, const std::string& why) {
    if (damaged_++ == 0) first_ = why;
    if (!json_) fmt::print("{}\n", why);
    indexes_.push_back({{"index", name}, {"whole", false}, {"error", why}});
  }
  void print(const std::string& damage) const {
    if (json_) {
      const Json all{{"indexes", indexes_}, {"damage", damage}};
      fmt::print("{}\n", measure::json_text(all, 2));
      return;
    }
    if (!damage.empty()) fmt::print("{}\n", damage);
    fmt::print("{} whole, {} damaged\n", whole_, damaged_);
  }
  /// Returns why the first index that is damaged is; empty: none is.
  const std::string& first() const { return first_; }

 private:
  const bool json_;
  Json indexes_ = Json::array();
  std::string first_;
  std::size_t whole_ = 0;
  std::size_t damaged_ = 0;
};

/// Checks every index and reports each one that is damaged; the error is the first one's.
void check(const DevicesArguments& arguments) {
  const auto store =
      arguments.trust
          ? device::open_store(arguments.path, writer(arguments))
          : device::open_store(arguments.path, {.allow_bad_blocks = arguments.allow_bad_blocks,
                                                .allow_unsafe = true});
  const layout::DeviceDirectory directory = store->directory();
  Findings findings(arguments.json);
  for (std::uint32_t slot = 0; slot < layout::kDeviceSlots; ++slot) {
    if (!directory.slots[slot]) continue;
    try {
      const auto index = device::StoredIndex::attach(store, slot);
      Progress progress("verifying " + index_name(index->entry()),
                        index->manifest().node_bytes(index->entry().node), arguments.quiet);
      index->verify(arguments.threads, [&](std::uint64_t done) { progress.advance(done); });
      findings.whole(index_name(index->entry()));
    } catch (const Error& error) {
      findings.damaged(index_name(*directory.slots[slot]), error.what());
    }
  }
  findings.print(store->damage());
  if (!findings.first().empty()) throw Error("{}", findings.first());
  if (!store->damage().empty() && !arguments.trust) {
    throw Error(
        "{}: {}; 'farvec devices check --trust {}' writes it anew from the other copy, and so does "
        "the next program that writes there",
        arguments.path, store->damage(), arguments.path);
  }
  if (arguments.trust) store->trust();
}

bool is_named(const layout::DeviceIndex& index, const DevicesArguments& arguments) {
  return (index.name == arguments.name && index.node == arguments.node) ||
         fmt::format("{:016x}", index.generation) == arguments.name;
}

void remove(const DevicesArguments& arguments) {
  const auto store = device::open_store(arguments.path, writer(arguments));
  const layout::DeviceDirectory directory = store->directory();
  Json removed = Json::array();
  for (std::uint32_t slot = 0; slot < layout::kDeviceSlots; ++slot) {
    const auto& index = directory.slots[slot];
    if (!index || !is_named(*index, arguments)) continue;
    if (!store->remove(slot)) {
      throw Error("{} is being read; stop those who read it, and remove it then",
                  index_name(*index));
    }
    const std::string generation = fmt::format("{:016x}", index->generation);
    removed.push_back({{"index", index_name(*index)}, {"generation", generation}});
    if (!arguments.json) {
      fmt::print("{} (generation {}) was removed\n", index_name(*index), generation);
    }
  }
  if (removed.empty()) {
    throw Error("{} holds no '{}' of node {}; 'farvec devices list {}' names what lies there",
                arguments.path, arguments.name, arguments.node, arguments.path);
  }
  if (arguments.json) fmt::print("{}\n", measure::json_text(removed, 2));
}

Command add(Command& devices, const char* name, const char* help,
            const std::shared_ptr<DevicesArguments>& arguments,
            void (*run)(const DevicesArguments&)) {
  Command command = devices.add_command(name, help);
  command.callback([arguments, run] { run(*arguments); });
  return command;
}

void add_path(Command& command, DevicesArguments& arguments) {
  command.add_option("path", arguments.path, "/dev/daxX.Y or a file").required();
  command.add_flag("--allow-bad-blocks", arguments.allow_bad_blocks,
                   "Map a device also when it names bad blocks: reading those ends the process");
}

void add_threads(Command& command, DevicesArguments& arguments) {
  command.add_option("--threads", arguments.threads, "0: one per processor").show_default();
  command.add_flag("--quiet", arguments.quiet, "No progress");
}

void add_list(Command& devices, const std::shared_ptr<DevicesArguments>& arguments) {
  Command command = add(devices, "list", "Devices of this machine, and what lies on them",
                        arguments, [](const DevicesArguments& given) {
                          given.paths.empty() ? list_here(given) : list_paths(given);
                        });
  command.add_option("paths", arguments->paths, "Only what lies there: /dev/daxX.Y or files");
  command.add_flag("--json", arguments->json, "One JSON array");
}

void add_format(Command& devices, const std::shared_ptr<DevicesArguments>& arguments) {
  Command command =
      add(devices, "format", "Make a device farvec's: an empty directory", arguments, format);
  add_path(command, *arguments);
  command.add_option("--bytes", arguments->bytes, "Make the file first, of this size").size();
  command.add_flag("--force", arguments->force, "Forget what lies there");
  command.add_flag("--json", arguments->json, "What lies there then, as one JSON object");
}

void add_load(Command& devices, const std::shared_ptr<DevicesArguments>& arguments) {
  Command command = add(devices, "load", "Copy an index to a device", arguments, load);
  add_path(command, *arguments);
  command.add_option("--index", arguments->index, "Index directory").required();
  command.add_option("--node", arguments->node, "What its placement gives to this memory node")
      .show_default();
  command.add_option("--name", arguments->name, "Its name there [the directory's]");
  add_threads(command, *arguments);
  command.add_flag("--json", arguments->json, "What lies there then, as one JSON object");
}

void add_check(Command& devices, const std::shared_ptr<DevicesArguments>& arguments) {
  Command command =
      add(devices, "check", "Compare every checksum of what lies on a device", arguments, check);
  add_path(command, *arguments);
  command.add_flag(
      "--trust", arguments->trust,
      "When all is whole, remember that: unsafe shutdowns that the device has counted\n"
      "up to now are no reason to refuse it any more");
  add_threads(command, *arguments);
  command.add_flag("--json", arguments->json, "What was found, as one JSON object");
}

void add_remove(Command& devices, const std::shared_ptr<DevicesArguments>& arguments) {
  Command command = add(devices, "remove", "Free what an index takes", arguments, remove);
  add_path(command, *arguments);
  command.add_option("name", arguments->name, "Its name, or its generation").required();
  command.add_option("--node", arguments->node, "The memory node whose share it is").show_default();
  command.add_flag("--json", arguments->json, "What was removed, as one JSON array");
}

}  // namespace

void register_devices_command(Command& tool) {
  const auto arguments = std::make_shared<DevicesArguments>();
  Command devices =
      tool.add_command("devices", "Memory devices: found, formatted, loaded, checked");
  devices.require_command();
  devices.footer(kFooter);
  add_list(devices, arguments);
  add_format(devices, arguments);
  add_load(devices, arguments);
  add_check(devices, arguments);
  add_remove(devices, arguments);
}

}  // namespace farvec::cli
