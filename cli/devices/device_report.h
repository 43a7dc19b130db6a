// Shows what `farvec devices` says of a device and of the indexes on it.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "device/device_list.h"
#include "device/device_store.h"

namespace farvec::cli {

/// Holds the opened store of a device or file, or says why there is none.
struct DeviceContents {
  std::shared_ptr<device::DeviceStore> store;  ///< open to read; null: `problem` says why
  std::string problem;
};

/// Opens it, whatever its health is, and returns what is on it.
DeviceContents look_into(const std::string& path);

/// Returns "sift1m.index"; for a share "sift1m.index (node 2)", but for the first node's share the
/// name alone.
std::string index_name(const layout::DeviceIndex& index);

nlohmann::ordered_json to_json(const device::FoundDevice& found);
nlohmann::ordered_json to_json(const DeviceContents& contents);

/// These print the table: a row for each device, then a line for each index on it.
void print_devices_header();
void print_device(const device::FoundDevice& found);
void print_contents(const DeviceContents& contents);

}  // namespace farvec::cli
