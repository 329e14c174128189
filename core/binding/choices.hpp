// Words of options as the numbers that the core uses; an unknown word is refused.
#pragma once

#include <nanobind/nanobind.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace surewood::binding {

template <class Value>
Value choice(const std::string& word, const char* name, std::initializer_list<std::pair<const char*, Value>> known) {
  std::string accepted;
  for (const auto& [text, value] : known) {
    if (word == text) return value;
    accepted += std::string(accepted.empty() ? "'" : ", '") + text + "'";
  }
  throw nanobind::value_error((std::string(name) + " must be one of " + accepted + ", got '" + word + "'.").c_str());
}

// A number from `least` to `most`.
template <class Number>
Number within(Number value, const char* name, Number least, Number most) {
  if (value >= least && value <= most) return value;
  throw nanobind::value_error((std::string(name) + " must be from " + std::to_string(least) + " to " +
                               std::to_string(most) + ", got " + std::to_string(value) + ".")
                                  .c_str());
}

// The sentence of a check, where there is one.
inline void refuse(const std::string& what, const std::string& flaw) {
  if (!flaw.empty()) throw nanobind::value_error((what + ": " + flaw + ".").c_str());
}

}  // namespace surewood::binding
