// state_json() shows what a node says of its collection.
#pragma once

#include <nlohmann/json.hpp>

#include "rpc/collection.pb.h"

namespace farvec::client {

/// Returns the state with the names that farvec uses for a collection of this machine.
nlohmann::ordered_json state_json(const collection::v1::StatsResponse& state);

}  // namespace farvec::client
