// The streams: reproducible, keyed, in range, and without an obvious bias.
#include <cassert>
#include <cstdio>
#include <set>

#include "common/cpu.hpp"
#include "common/rng.hpp"

using namespace surewood;

int main() {
  Stream a(stream_key(7, {1, 2})), b(stream_key(7, {1, 2})), c(stream_key(7, {2, 1}));
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    auto word = a.next();
    assert(word == b.next());
    differs |= word != c.next();
  }
  assert(differs);

  std::set<std::uint64_t> keys;
  for (std::uint64_t tree = 0; tree < 1000; ++tree) keys.insert(stream_key(0, {tree}));
  assert(keys.size() == 1000);

  Stream s(stream_key(42, {}));
  int counts[7] = {0};
  for (int i = 0; i < 70000; ++i) ++counts[s.below(7)];
  for (int count : counts) assert(count > 9500 && count < 10500);
  for (int i = 0; i < 1000; ++i) {
    double u = s.uniform();
    assert(u >= 0.0 && u < 1.0);
    assert(s.below(1) == 0);
  }
  std::puts("rng ok");
}
