// Registers the core with Python. Only the files of this folder include nanobind: they check arguments, take views of
// arrays and call the core once.
#include <nanobind/nanobind.h>

namespace surewood::binding {

void register_common(nanobind::module_& module);
void register_bins(nanobind::module_& module);
void register_growing(nanobind::module_& module);
void register_forest(nanobind::module_& module);
void register_boosting(nanobind::module_& module);
void register_svm(nanobind::module_& module);

}  // namespace surewood::binding

NB_MODULE(_core, module) {
  using namespace surewood::binding;
  module.doc() = "The compiled core of surewood. Import it from surewood.trees, surewood.svm or surewood.tables only.";
  nanobind::set_leak_warnings(false);  // a fitted model may live until Python ends
  register_common(module);
  register_bins(module);
  register_growing(module);
  register_forest(module);
  register_boosting(module);
  register_svm(module);
}
