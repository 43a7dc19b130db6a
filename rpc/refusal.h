// Names what a compute node says beside RESOURCE_EXHAUSTED, in the call's trailing metadata.
#pragma once

namespace farvec::rpc {

/// Whole milliseconds after which another try makes sense. The key is gRPC's own: its clients'
/// retry policies obey it.
inline constexpr const char* kRetryAfterKey = "grpc-retry-pushback-ms";
/// The reason: "queue_full" or "too_late"; for changes of a collection also "no_room".
inline constexpr const char* kRefusalKey = "farvec-refusal";

}  // namespace farvec::rpc
