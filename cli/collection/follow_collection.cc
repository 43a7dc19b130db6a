// The command `farvec collection follow` shows what a reader sees while another process changes a
// collection.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "cli/collection/collection_commands.h"
#include "cli/collection/collection_options.h"
#include "cli/collection/collection_place.h"
#include "cli/interrupt.h"
#include "collection/read/collection_follower.h"
#include "measure/report/json_text.h"
#include "measure/report/table.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

struct FollowArguments {
  CollectionPlace place;
  rpc::TlsFiles tls;
  double every_s = 1;
  double seconds = 0;
  double poll_ms = 2;
  bool json = false;
};

constexpr std::array<measure::Column, 7> kFollowColumns{{{"version", 14},
                                                         {"vectors", 12},
                                                         {"fresh", 10},
                                                         {"segments", 10},
                                                         {"out", 10},
                                                         {"stale ms", 10},
                                                         {"switches", 10}}};

void print_sight(const collection::View& view, const collection::FollowState& state) {
  const collection::ViewSize size = size_of(view);
  measure::print_row(
      kFollowColumns,
      {std::to_string(view.version), std::to_string(size.live), std::to_string(size.fresh),
       std::to_string(view.segments.size()), std::to_string(size.out),
       fmt::format("{:.1f}", state.stale_us / 1e3), std::to_string(state.switches)});
  if (!state.failure.empty()) fmt::print(stderr, "does not follow: {}\n", state.failure);
}

nlohmann::ordered_json sight_json(const collection::View& view,
                                  const collection::FollowState& state) {
  nlohmann::ordered_json json = collection::view_json(view);
  json["stale_ms"] = state.stale_us / 1e3;
  json["switches"] = state.switches;
  json["failures"] = state.failures;
  if (!state.failure.empty()) json["failure"] = state.failure;
  return json;
}

void follow(const Command& command, const FollowArguments& arguments) {
  const InterruptGuard guard;
  const OpenedPlace place = open_place(command, arguments.place, arguments.tls);
  const collection::CollectionFollower follower(place.source, place.access,
                                                {.poll_us = arguments.poll_ms * 1e3,
                                                 .records = collection::Reading::Records::leave,
                                                 .log_nodes = place.log_nodes});
  const Ticks begin = now_ticks();
  const Ticks every = us_to_ticks(arguments.every_s * 1e6);
  const Ticks span = us_to_ticks(arguments.seconds * 1e6);
  if (!arguments.json) measure::print_header(kFollowColumns);
  for (Ticks due = begin; span == 0 || due <= begin + span; due += every) {
    if (!sleep_until(due)) return;
    const collection::ViewPointer view = follower.view();
    if (arguments.json) {
      fmt::print("{}\n", measure::json_text(sight_json(*view, follower.state())));
    } else {
      print_sight(*view, follower.state());
    }
    std::fflush(stdout);
  }
}

}  // namespace

void register_collection_follow(Command& collection) {
  auto arguments = std::make_shared<FollowArguments>();
  Command command = collection.add_command(
      "follow", "Watch a collection, as a reader sees it, while another process changes it");
  add_place_options(command, arguments->place).required();
  command.add_option("--every", arguments->every_s, "Seconds from one line to the next")
      .range(0.01, 3600.0)
      .show_default();
  command.add_option("--seconds", arguments->seconds, "End after this time; 0: with Ctrl-C")
      .range(0.0, 1e9)
      .show_default();
  command.add_option("--poll-ms", arguments->poll_ms, "From one look at the log to the next")
      .range(0.1, 10e3)
      .show_default();
  command.add_flag("--json", arguments->json, "A JSON object for each line");
  rpc::add_tls_flags(command, arguments->tls);
  command.footer(
      "stale ms: all that was in the log so long ago is in what is seen. Segments are opened "
      "beside\n"
      "those that are there before; switches counts how often. Example:\n"
      "  farvec collection follow --collection set --every 0.5");
  command.callback([arguments, command] { follow(command, *arguments); });
}

}  // namespace farvec::cli
