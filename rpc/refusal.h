// What a compute node says beside RESOURCE_EXHAUSTED, in the call's trailing metadata.
#pragma once

namespace farvec::rpc {

/// Whole milliseconds after which it is worth to ask again. gRPC's own name: its clients' retry
/// policies heed it.
inline constexpr const char* kRetryAfterKey = "grpc-retry-pushback-ms";
/// Why: "queue_full" or "too_late"; of changes of a collection also "no_room".
inline constexpr const char* kRefusalKey = "farvec-refusal";

}  // namespace farvec::rpc
