#include "disk/disk_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/quantity.h"

namespace farvec::disk {
namespace {

constexpr std::uint32_t kMost = 1 << 20;  ///< for every whole number

/// What no paper says: an acknowledged write lies in the memory of the disk.
constexpr double kGuessedWriteUs = 25;
constexpr double kGuessedSyncUs = 25;
/// What Table 1 of 000 was measured with: fio, 8 KB a request, 1 job and 64 jobs.
constexpr double kTableBytes = 8192;
constexpr double kTableJobs = 64;

struct Preset {
  DiskModel model;
  std::string_view source;
};

/// Fits a disk to two throughputs in MB/s, of one job and of all. N jobs that read at random places
/// of D dies reach N D / (N + D - 1) times the rate of one (a closed network of D equal servers).
/// So the ratio gives the number of dies. The link has no limit: 000 drives SSD-A beyond its table.
DiskModel of_table(std::string name, double one, double all) {
  const double ratio = all / one;
  DiskModel model;
  model.name = std::move(name);
  model.read_us = kTableBytes / one;
  model.write_us = kGuessedWriteUs;
  model.sync_us = kGuessedSyncUs;
  model.dies =
      static_cast<std::uint32_t>(std::lround(ratio * (kTableJobs - 1) / (kTableJobs - ratio)));
  return model;
}

/// 004's disk. Its equations take one rate, and its Figure 6 another one. 256 dies are a guess:
/// they bind neither rate.
DiskModel p5520(std::string name, double requests_per_us) {
  DiskModel model;
  model.name = std::move(name);
  model.read_us = 75;
  model.write_us = kGuessedWriteUs;
  model.sync_us = kGuessedSyncUs;
  model.dies = 256;
  model.bytes_per_us = 5300;
  model.requests_per_us = requests_per_us;
  return model;
}

const std::array<Preset, 7>& presets() {
  static const std::array<Preset, 7> all = {{
      {of_table("ssd-a", 118, 5606), "000, Table 1, SSD-A: 118 MB/s of one job, 5,606 of 64"},
      {of_table("ssd-b", 93, 3355), "000, Table 1, SSD-B: 93 and 3,355 MB/s"},
      {of_table("ssd-c", 121, 2484), "000, Table 1, SSD-C: 121 and 2,484 MB/s"},
      {of_table("ssd-d", 74, 473), "000, Table 1, SSD-D: 74 and 473 MB/s"},
      {p5520("p5520-slow", 0.6), "004: 75 us, 5.3 GB/s, 0.6 M reads a second of its equations"},
      {p5520("p5520-fast", 1.3), "004: 75 us, 5.3 GB/s, 1.3 M reads a second of its Figure 6"},
      {{}, "nothing: say what it has"},
  }};
  return all;
}

std::string accepted() {
  std::string names;
  for (const Preset& preset : presets()) names += (names.empty() ? "" : ", ") + preset.model.name;
  return names;
}

DiskModel preset(std::string_view name) {
  for (const Preset& preset : presets()) {
    if (preset.model.name == name) return preset.model;
  }
  throw Error("no modelled disk '{}': expected {}", name, accepted());
}

std::uint32_t parse_count(std::string_view key, std::string_view text) {
  const std::uint64_t count = parse_number(text, std::string(key) + "=");
  if (count == 0 || count > kMost) throw Error("'{}={}': use 1 to {}", key, text, kMost);
  return static_cast<std::uint32_t>(count);
}

std::uint32_t parse_page(std::string_view key, std::string_view text) {
  const std::uint64_t bytes = parse_bytes(text, std::string(key) + "=");
  if (bytes < 512 || bytes > kMost) throw Error("'{}={}': use 512 B to 1 MiB", key, text);
  return static_cast<std::uint32_t>(bytes);
}

void apply(DiskModel& model, std::string_view key, std::string_view value) {
  if (key == "read") {
    model.read_us = parse_with_unit(key, value, kTimeUnits);
  } else if (key == "write") {
    model.write_us = parse_with_unit(key, value, kTimeUnits);
  } else if (key == "sync") {
    model.sync_us = parse_with_unit(key, value, kTimeUnits);
  } else if (key == "dies") {
    model.dies = parse_count(key, value);
  } else if (key == "page") {
    model.page_bytes = parse_page(key, value);
  } else if (key == "bandwidth") {
    model.bytes_per_us = 1e3 * parse_with_unit(key, value, kBandwidthUnits);
  } else if (key == "rate") {
    model.requests_per_us = parse_with_unit(key, value, kRateUnits);
  } else if (key == "depth") {
    model.depth = parse_count(key, value);
  } else if (key == "cores") {
    model.cores = parse_count(key, value);
  } else {
    throw Error("'{}': expected read, write, sync, dies, page, bandwidth, rate, depth or cores",
                key);
  }
}

}  // namespace

DiskModel parse_disk_model(std::string_view text) {
  const std::size_t first = text.find(',');
  DiskModel model = preset(text.substr(0, first));
  std::string_view rest = first == std::string_view::npos ? "" : text.substr(first + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw Error("'{}' in the modelled disk '{}': expected KEY=VALUE", item, text);
    }
    const std::string_view key = item.substr(0, equals);
    apply(model, key, item.substr(equals + 1));
    if (key != "cores") model.name = "custom";
  }
  if (model.read_us == 0) throw Error("the modelled disk '{}' needs read=TIME", text);
  return model;
}

std::string to_string(const DiskModel& model) {
  std::string text = fmt::format(
      "MODELLED disk {}: {} dies, {:.4g} us a read of {} B, {:.4g} us a write, {:.4g} us a sync",
      model.name, model.dies, model.read_us, model.page_bytes, model.write_us, model.sync_us);
  if (model.bytes_per_us > 0) text += fmt::format(", {:.4g} GB/s", model.bytes_per_us / 1e3);
  if (model.requests_per_us > 0)
    text += fmt::format(", {:.4g} M requests/s", model.requests_per_us);
  if (model.depth > 0) text += fmt::format(", {} requests at once", model.depth);
  if (model.cores > 1) text += fmt::format(", {} cores alike", model.cores);
  return text;
}

/// A request costs the disk a read of a die, or what its controller takes where that is longer; the
/// link brings bytes meanwhile. Where it has no limit, a gap of a page is free.
std::uint32_t bytes_per_request(const DiskModel& model) {
  if (model.bytes_per_us == 0) return model.page_bytes;
  double request_us = model.read_us / model.dies;
  if (model.requests_per_us > 0) request_us = std::max(request_us, 1 / model.requests_per_us);
  return static_cast<std::uint32_t>(std::clamp(request_us * model.bytes_per_us, 512.0, 1048576.0));
}

std::string disk_model_help() {
  std::string text;
  for (const Preset& preset : presets()) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", preset.model.name, preset.source);
  }
  return text;
}

}  // namespace farvec::disk
