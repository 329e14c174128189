// Vectors that begin where a cache line does: a register of eight doubles or sixteen floats is then read from one line,
// not from two.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

namespace surewood {

// Large blocks come from the system and go back to it at once. A heap keeps what it is given back, in holes between
// small blocks that live longer: matrices made and thrown away again and again would leave several times their size.
constexpr std::size_t kOwnPages = std::size_t{1} << 20;  // below, asking the system takes longer than filling the block

inline void* pages_or_null(std::size_t bytes) {
#if defined(__unix__) || defined(__APPLE__)
  if (bytes < kOwnPages) return nullptr;
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return pages;
#else
  (void)bytes;
  return nullptr;
#endif
}

inline bool give_back_pages(void* pages, std::size_t bytes) {
#if defined(__unix__) || defined(__APPLE__)
  if (bytes < kOwnPages) return false;
  ::munmap(pages, bytes);
  return true;
#else
  (void)pages, (void)bytes;
  return false;
#endif
}

template <class T>
struct Aligned {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  Aligned() = default;
  template <class U>
  Aligned(const Aligned<U>&) {}
  template <class U>
  bool operator==(const Aligned<U>&) const {
    return true;
  }
  template <class U>
  bool operator!=(const Aligned<U>&) const {
    return false;
  }

  T* allocate(std::size_t n) {
    if (void* pages = pages_or_null(n * sizeof(T))) return static_cast<T*>(pages);
    return static_cast<T*>(::operator new(n * sizeof(T), kLine));
  }
  void deallocate(T* pointer, std::size_t n) {
    if (!give_back_pages(pointer, n * sizeof(T))) ::operator delete(pointer, kLine);
  }
};

template <class T>
using AlignedVector = std::vector<T, Aligned<T>>;

// The same, but new elements are not set to zero: for what is written before it is read.
template <class T>
struct AlignedUnset : Aligned<T> {
  AlignedUnset() = default;
  template <class U>
  AlignedUnset(const AlignedUnset<U>&) {}
  template <class U>
  void construct(U*) {}
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
};

template <class T>
using UnsetVector = std::vector<T, AlignedUnset<T>>;

// At least n elements, of any value. Where there are fewer, they are given back before room for the number expected is
// taken: growing little by little would leave holes in memory.
template <class T>
void make_room(UnsetVector<T>& values, std::size_t n, std::size_t expected) {
  if (values.size() >= n) return;
  UnsetVector<T>().swap(values);
  values.resize(n > expected ? n : expected);
}

}  // namespace surewood
