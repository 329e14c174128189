// The registering functions of this folder, called once by binding/module.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace surewood::binding {

void register_row_words(nanobind::module_& module);
void register_bins(nanobind::module_& module);
void register_draw(nanobind::module_& module);
void register_growing(nanobind::module_& module);
void register_forest(nanobind::module_& module);
void register_boosting(nanobind::module_& module);
void register_inner_products(nanobind::module_& module);
void register_svm_solve(nanobind::module_& module);
void register_svm_predict(nanobind::module_& module);

}  // namespace surewood::binding
