// Runs threads on processors of their own, for measurements.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace farvec::search {

/// Calls body(0) to body(count - 1), each on a new thread, pinned to a processor of its own when
/// there are enough, and waits for all. Throws what the lowest-numbered thread that failed threw.
void run_pinned(std::size_t count, const std::function<void(std::size_t thread)>& body);

/// Does the same with body(0) on the calling thread, and with threads that are not pinned.
void run_unpinned(std::size_t count, const std::function<void(std::size_t thread)>& body);

/// Returns the processors that run_pinned() takes for `count` threads, as "0,3".
std::string allowed_processors(std::size_t count);

/// Returns the seconds of processor time that the calling thread has taken.
double processor_seconds();

}  // namespace farvec::search
