#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/input_file.h"
#include "measure/advise/device/device.h"

namespace farvec::measure {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;

/// Returns the words of the file with commas between them.
std::string words_of(const std::string& path) {
  std::istringstream in(read_text(path, kMostBytes, "a device description"));
  std::string words;
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    for (char& c : line) c = c == ',' ? ' ' : c;
    std::istringstream parts(line);
    for (std::string word; parts >> word;) words += (words.empty() ? "" : ",") + word;
  }
  if (words.empty()) throw Error("the device description '{}' is empty", path);
  return words;
}

}  // namespace

DeviceChoice read_device(const std::string& text) {
  constexpr std::string_view kDisk = "ssd:";
  if (text.starts_with(kDisk)) {
    if (text.size() == kDisk.size()) {
      throw Error("--device {}: name a folder, a file or a block device after the colon", text);
    }
    return {{}, text.substr(kDisk.size())};
  }
  if (!std::filesystem::is_regular_file(text)) {
    try {
      return {transport::parse_device_model(text), ""};
    } catch (const Error& error) {
      throw Error("--device: {}; there is no file of that name either", error.what());
    }
  }
  try {
    transport::DeviceModel device = transport::parse_device_model(words_of(text));
    device.name = std::filesystem::path(text).stem().string();
    return {device, ""};
  } catch (const Error& error) {
    throw Error("--device '{}': {}", text, error.what());
  }
}

}  // namespace farvec::measure
