#include "cli/devices/device_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <ctime>

#include "cli/index/inspection.h"
#include "layout/index/manifest.h"
#include "measure/report/table.h"

namespace farvec::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<measure::Column, 7> kColumns{{{"device", 14},
                                                   {"kind", 10},
                                                   {"mode", 22},
                                                   {"bytes", 20},
                                                   {"align", 10},
                                                   {"node", 5},
                                                   {"health", 8}}};

std::string number_or_dash(std::uint64_t value) {
  return value == 0 ? "-" : grouped(value);
}

std::string health_words(const device::FoundDevice& found) {
  std::string words;
  if (found.bad_blocks && *found.bad_blocks > 0) {
    words = fmt::format("{} bad blocks", *found.bad_blocks);
  }
  if (found.unsafe_shutdowns && *found.unsafe_shutdowns > 0) {
    if (!words.empty()) words += ", ";
    words += fmt::format("{} unsafe shutdowns", *found.unsafe_shutdowns);
  }
  if (!words.empty()) return words;
  return found.bad_blocks || found.unsafe_shutdowns ? "good" : "-";
}

std::string utc(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

Json entry_json(const layout::DeviceIndex& index, std::uint32_t slot) {
  Json regions = Json::array();
  for (const layout::DeviceRegion& region : index.regions) {
    regions.push_back({{"region", region.region},
                       {"kind", to_string(region.kind)},
                       {"offset", region.extent.offset},
                       {"bytes", region.extent.bytes}});
  }
  return {{"slot", slot},
          {"name", index.name},
          {"node", index.node},
          {"generation", fmt::format("{:016x}", index.generation)},
          {"published", index.published},
          {"bytes", index.taken_bytes()},
          {"regions", regions}};
}

}  // namespace

DeviceContents look_into(const std::string& path) {
  DeviceContents contents;
  try {
    contents.store = device::open_store(path, {.allow_bad_blocks = true, .allow_unsafe = true});
  } catch (const std::exception& error) {
    contents.problem = error.what();
  }
  return contents;
}

std::string index_name(const layout::DeviceIndex& index) {
  return index.node == 0 ? index.name : fmt::format("{} (node {})", index.name, index.node);
}

Json to_json(const device::FoundDevice& found) {
  Json json = {{"device", found.name}, {"kind", device::to_string(found.kind)},
               {"path", found.path},   {"mode", found.mode},
               {"bytes", found.bytes}, {"alignment", found.alignment}};
  if (found.numa_node) json["numa_node"] = *found.numa_node;
  if (found.bad_blocks) json["bad_blocks"] = *found.bad_blocks;
  if (found.unsafe_shutdowns) json["unsafe_shutdowns"] = *found.unsafe_shutdowns;
  return json;
}

Json to_json(const DeviceContents& contents) {
  if (contents.store == nullptr) return {{"problem", contents.problem}};
  const layout::DeviceDirectory directory = contents.store->directory();
  Json indexes = Json::array();
  for (std::uint32_t slot = 0; slot < layout::kDeviceSlots; ++slot) {
    if (directory.slots[slot]) indexes.push_back(entry_json(*directory.slots[slot], slot));
  }
  Json json = {{"bytes", directory.device_bytes},
               {"free_bytes", directory.free_bytes()},
               {"alignment", contents.store->memory().alignment()},
               {"memory", contents.store->memory().description()},
               {"indexes", indexes}};
  if (!contents.store->damage().empty()) json["damage"] = contents.store->damage();
  return json;
}

void print_devices_header() {
  measure::print_header(kColumns);
}

void print_device(const device::FoundDevice& found) {
  measure::print_row(
      kColumns, {found.name, device::to_string(found.kind), found.mode.empty() ? "-" : found.mode,
                 number_or_dash(found.bytes), number_or_dash(found.alignment),
                 found.numa_node ? std::to_string(*found.numa_node) : "-", health_words(found)});
}

void print_contents(const DeviceContents& contents) {
  if (contents.store == nullptr) {
    fmt::print("  {}\n", contents.problem);
    return;
  }
  const layout::DeviceDirectory directory = contents.store->directory();
  for (const auto& index : directory.slots) {
    if (!index) continue;
    fmt::print("  {}: {}, {} bytes, published {}, generation {:016x}\n", index_name(*index),
               to_string(index->regions.front().kind), grouped(index->taken_bytes()),
               utc(index->published), index->generation);
  }
  fmt::print("  {} of {} bytes are free ({})\n", grouped(directory.free_bytes()),
             grouped(directory.device_bytes), contents.store->memory().description());
  if (!contents.store->damage().empty()) fmt::print("  {}\n", contents.store->damage());
}

}  // namespace farvec::cli
