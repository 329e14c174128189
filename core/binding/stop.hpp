// How a solver that has released the GIL hears of Ctrl-C and reports its progress.
#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "binding/arguments.hpp"
#include "svm/dual.hpp"

namespace surewood::binding {

// A byte that another thread may set, and Ctrl-C when this is the main thread; a function that is called with
// the number of SVMs that were done, a few times a second.
class PythonStop final : public surewood::StopSignal {
 public:
  explicit PythonStop(const Array<std::uint8_t>& flag, const nb::callable* listener = nullptr)
      : flag_(reinterpret_cast<const Flag*>(require(flag, "stop", {1}))),
        listener_(listener),
        last_(Clock::now()),
        last_report_(last_) {}
  bool requested() override {
    if (stopped_ || flag_->load(std::memory_order_relaxed)) return true;
    const auto now = Clock::now();
    if (now - last_ < kBetweenChecks) return false;
    last_ = now;
    nb::gil_scoped_acquire gil;
    return stopped_ = PyErr_CheckSignals() != 0;
  }
  void done(int svms) override {
    unreported_ += svms;
    if (Clock::now() - last_report_ >= kBetweenChecks) report();
  }
  void report() {
    if (!listener_ || unreported_ == 0) return;
    nb::gil_scoped_acquire gil;
    (*listener_)(unreported_);
    unreported_ = 0;
    last_report_ = Clock::now();
  }
  // With the GIL held: a pending KeyboardInterrupt goes on as such.
  [[noreturn]] static void raise() {
    if (PyErr_Occurred()) throw nb::python_error();
    throw std::runtime_error("the solver was stopped");
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Flag = std::atomic<std::uint8_t>;
  static_assert(sizeof(Flag) == 1 && Flag::is_always_lock_free, "a byte of an array is read as an atomic one");
  static constexpr std::chrono::milliseconds kBetweenChecks{100};
  const Flag* flag_;
  const nb::callable* listener_;
  Clock::time_point last_, last_report_;
  std::int64_t unreported_ = 0;
  bool stopped_ = false;
};

}  // namespace surewood::binding
