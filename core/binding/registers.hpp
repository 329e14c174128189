// The registering functions of this folder, called once by module.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace surewood::binding {

void register_forest(nanobind::module_& module);
void register_svm(nanobind::module_& module);

}  // namespace surewood::binding
