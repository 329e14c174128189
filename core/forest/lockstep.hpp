// Eight rows go down one tree in step: leaves point to themselves, so a step needs no test for the end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace surewood {

constexpr std::size_t kRowLanes = 8;  // 12 made no difference, 16 was slower

// next(node, lane) is the child that a lane's row goes to from a split, and the node itself from a leaf.
template <class Next>
inline void descend_in_step(Next next, std::uint32_t* at) {
  constexpr int kStepsTogether = 4;  // the end is looked for now and then
  std::uint32_t a[kRowLanes] = {0};
  std::uint32_t moved;
  do {
    for (int step = 1; step < kStepsTogether; ++step)
      for (std::size_t k = 0; k < kRowLanes; ++k) a[k] = next(a[k], k);
    moved = 0;
    for (std::size_t k = 0; k < kRowLanes; ++k) {
      const std::uint32_t there = next(a[k], k);
      moved |= there ^ a[k];
      a[k] = there;
    }
  } while (moved);
  for (std::size_t k = 0; k < kRowLanes; ++k) at[k] = a[k];
}

}  // namespace surewood
