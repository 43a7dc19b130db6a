// Runs fork-join loops, for building and tools. They are never used on the query path.
#pragma once

#include <cstddef>
#include <functional>

namespace farvec {

/// 0 means one thread per processor on which this process may run.
unsigned resolve_threads(unsigned requested);

/// Calls body(begin, end, worker) over [0, count) in chunks of at most `chunk` items, on `threads`
/// workers numbered from 0 (the caller is worker 0). Chunks are handed out in ascending order but
/// may finish in any order. The first exception stops the hand-out and is rethrown here.
void parallel_for(
    std::size_t count, std::size_t chunk, unsigned threads,
    const std::function<void(std::size_t begin, std::size_t end, unsigned worker)>& body);

}  // namespace farvec
