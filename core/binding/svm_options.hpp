// Arguments that the entry points of the SVM engine have in common.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "binding/choices.hpp"
#include "svm/kernel.hpp"

namespace surewood::binding {

// The kernel as a Python object: refused where it is not one of the known kinds.
struct KernelArgument : KernelSpec {
  KernelArgument(const std::string& kind, double gamma, double coef0)
      : KernelSpec{choice<KernelKind>(kind, "kind", {{"poly", KernelKind::poly}, {"rbf", KernelKind::rbf}}), gamma,
                   coef0} {
    if (!(std::isfinite(gamma) && gamma > 0.0)) throw nanobind::value_error("gamma must be positive and finite.");
    if (!std::isfinite(coef0)) throw nanobind::value_error("coef0 must be finite.");
  }
};

}  // namespace surewood::binding
