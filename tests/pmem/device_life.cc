// What power_test.sh runs in a guest until its power goes: holds each device against what was being
// done to it when power went the last time, and then formats, loads, publishes and removes, step by
// step, on all of them at once.
//   device_life FOLDER OLD_JOURNAL NEW_JOURNAL DEVICE...
// FOLDER has the indexes `a`, `b`, `c` and `p`, the last one placed over two memory nodes. A
// journal has a line as each step begins and another one when it is done.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "device/pmem_memory.h"
#include "device/stored_index.h"

namespace farvec::device {
namespace {

constexpr MemoryAccess kWrite = MemoryAccess::read_write;

/// What a step adds or takes away; "name=index/node".
struct Step {
  const char* word;
  const char* adds;
  const char* removes;
};

/// Step 0 forgets everything. Behind the last one comes the first.
constexpr std::array<Step, 10> kLife{{{"format", nullptr, nullptr},
                                      {"load", "kept=a/0", nullptr},
                                      {"load", "moved=b/0", nullptr},
                                      {"publish", "moved=c/0", nullptr},
                                      {"free", nullptr, "moved=b/0"},
                                      {"place", "p=p/0", nullptr},
                                      {"place", "p=p/1", nullptr},
                                      {"remove", nullptr, "moved=c/0"},
                                      {"remove", nullptr, "p=p/0"},
                                      {"remove", nullptr, "p=p/1"}}};

using State = std::set<std::string>;

State state_after(std::uint64_t step) {
  State state;
  for (std::uint64_t i = 1; i <= step % kLife.size(); ++i) {
    if (kLife[i].adds != nullptr) state.insert(kLife[i].adds);
    if (kLife[i].removes != nullptr) state.erase(kLife[i].removes);
  }
  return state;
}

State state_before(std::uint64_t step) {
  return step == 0 ? State{} : state_after(step - 1);
}

/// Where a journal ends for one device.
struct Reached {
  std::uint64_t step = 0;
  bool done = false;
};

std::map<std::string, Reached> read_journal(const std::string& path) {
  std::map<std::string, Reached> reached;
  std::ifstream file(path);
  std::string device;
  std::uint64_t step = 0;
  std::string mark;
  while (file >> device >> step >> mark) reached[device] = {step, mark == "done"};
  return reached;
}

class Life {
 public:
  Life(const std::string& folder, const std::string& journal) : journal_(journal, std::ios::app) {
    for (const char* name : {"a", "b", "c", "p"}) {
      indexes_.emplace(name, layout::IndexDirectory::open(folder + "/" + name));
    }
  }

  /// Throws Error when the device is neither as before the step that power cut nor as after it.
  /// Gives the step that comes next.
  std::uint64_t check(const std::string& device, const Reached& reached) {
    if (reached.step == 0 && !reached.done && !is_formatted(device)) {
      fmt::print("cut: {} in its first format, found nothing\n", device);
      return 0;
    }
    const auto start = std::chrono::steady_clock::now();
    const auto store = open_store(device, {.access = kWrite});
    const auto kept = StoredIndex::find(store, indexes_.at("a"), 0);
    const std::chrono::duration<double, std::milli> attached =
        std::chrono::steady_clock::now() - start;
    const State found = state_of(store);
    const std::uint64_t step = reached.step;
    const bool after = found == state_after(step);
    if (!after && (reached.done || found != state_before(step))) {
      throw Error("{}: step {} ({}) left {}", device, step, kLife[step % kLife.size()].word,
                  words_of(found));
    }
    fmt::print("cut: {} {} {} step {}, found {}{}; {} in {:.0f} ms; {}\n", device,
               reached.done ? "behind" : "in", kLife[step % kLife.size()].word, step,
               after ? "new" : "old", store->damage().empty() ? "" : " and a torn copy",
               kept ? "attached" : "opened", attached.count(), words_of(found));
    std::fflush(stdout);
    return after ? step + 1 : step;
  }

  void take(const std::string& device, std::uint64_t number) {
    const Step& step = kLife[number % kLife.size()];
    mark(device, number, "begin");
    if (step.adds == nullptr && step.removes == nullptr) {
      DeviceStore::format(open_pmem(device, {.access = kWrite}), true);
    } else {
      const auto store = open_store(device, {.access = kWrite});
      if (step.adds != nullptr) add(store, step.adds);
      if (step.removes != nullptr) remove(store, step.removes);
    }
    mark(device, number, "done");
  }

 private:
  static bool is_formatted(const std::string& device) {
    const auto memory = open_pmem(device, {});
    return layout::has_device_directory(memory->bytes().first(layout::kDeviceUnitBytes));
  }

  static std::string words_of(const State& state) {
    std::string words = state.empty() ? "nothing" : "";
    for (const std::string& word : state) words += (words.empty() ? "" : " ") + word;
    return words;
  }

  void mark(const std::string& device, std::uint64_t step, const char* what) {
    const std::lock_guard lock(mutex_);
    journal_ << device << ' ' << step << ' ' << what << '\n' << std::flush;
  }

  std::string word_of(const StoredIndex& stored) const {
    for (const auto& [name, index] : indexes_) {
      if (layout::manifest_to_json(index.manifest()) == stored.manifest_json()) {
        return fmt::format("{}={}/{}", stored.entry().name, name, stored.entry().node);
      }
    }
    throw Error("'{}' is none of the indexes that were loaded", stored.entry().name);
  }

  /// Everything that is listed is whole, and every unit that nothing takes is free.
  State state_of(const std::shared_ptr<DeviceStore>& store) const {
    const auto directory = store->directory();
    std::uint64_t taken = layout::kDeviceUnitBytes;
    State state;
    for (std::uint32_t slot = 0; slot < layout::kDeviceSlots; ++slot) {
      if (!directory.slots[slot]) continue;
      const auto stored = StoredIndex::attach(store, slot);
      stored->verify(1);
      if (!state.insert(word_of(*stored)).second) throw Error("{} twice", word_of(*stored));
      taken += directory.slots[slot]->taken_bytes();
    }
    const std::uint64_t units = directory.device_bytes / layout::kDeviceUnitBytes;
    if (directory.free_bytes() + taken != units * layout::kDeviceUnitBytes) {
      throw Error("{} bytes are lost",
                  units * layout::kDeviceUnitBytes - taken - directory.free_bytes());
    }
    return state;
  }

  void add(const std::shared_ptr<DeviceStore>& store, const std::string& what) const {
    const std::size_t equals = what.find('=');
    const std::size_t slash = what.find('/');
    const auto& index = indexes_.at(what.substr(equals + 1, slash - equals - 1));
    const auto node = static_cast<std::uint32_t>(std::stoul(what.substr(slash + 1)));
    (void)store_index(store, index, node, what.substr(0, equals), {.threads = 1, .quiet = true});
  }

  void remove(const std::shared_ptr<DeviceStore>& store, const std::string& what) const {
    for (std::uint32_t slot = 0; slot < layout::kDeviceSlots; ++slot) {
      if (!store->directory().slots[slot]) continue;
      if (word_of(*StoredIndex::attach(store, slot)) != what) continue;
      if (!store->remove(slot)) throw Error("{} is read by somebody", what);
      return;
    }
    throw Error("{} is not there", what);
  }

  std::map<std::string, layout::IndexDirectory> indexes_;
  std::mutex mutex_;
  std::ofstream journal_;
};

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 4) throw Error("device_life FOLDER OLD_JOURNAL NEW_JOURNAL DEVICE...");
  Life life(arguments[0], arguments[2]);
  const auto reached = read_journal(arguments[1]);
  std::map<std::string, std::uint64_t> next;
  for (const std::string& device : std::span(arguments).subspan(3)) {
    const auto before = reached.find(device);
    next[device] = before == reached.end() ? 0 : life.check(device, before->second);
  }
  fmt::print("checked\n");
  std::fflush(stdout);
  std::vector<std::thread> threads;
  for (const auto& [device, first] : next) {
    threads.emplace_back([&life, &device = device, step = first]() mutable {
      while (true) life.take(device, step++);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace
}  // namespace farvec::device

int main(int argc, char** argv) {
  try {
    return farvec::device::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    fmt::print(stderr, "device_life: {}\n", error.what());
    return 1;
  }
}
