// Independent pieces of work on several threads.
#pragma once

#include <functional>

namespace fleetbench::images {

// Calls work(0) to work(count - 1) on `threads` threads, each piece once, in no order, and returns
// when all are done. What a piece throws is thrown here (the first that happened); pieces that were
// not begun by then are not done.
void in_parallel(int count, int threads, const std::function<void(int)>& work);

}  // namespace fleetbench::images
