// Registers how the trees of a forest draw their rows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "binding/choices.hpp"
#include "binding/forest_arguments.hpp"
#include "binding/registers.hpp"

namespace surewood::binding {

using namespace nb::literals;

namespace {

std::uint32_t count_that_fits(std::uint64_t count, const char* name) {
  return static_cast<std::uint32_t>(within<std::uint64_t>(count, name, 0, 0xFFFFFFFE));
}

auto counts(const DrawArgument& draw, std::uint64_t tree) {
  return to_numpy(in_bag_counts(draw.lottery, tree_key(draw.seed, tree)));
}

}  // namespace

DrawArgument::DrawArgument(const std::string& sampling, std::uint64_t n_rows, std::optional<AnyArray> own_units,
                           std::uint64_t n_draws, std::optional<AnyArray> own_odds, std::uint64_t own_seed,
                           std::optional<AnyArray> own_groups)
    : units(std::move(own_units)), odds(std::move(own_odds)), groups(std::move(own_groups)), seed(own_seed) {
  lottery.sampling = choice<Sampling>(sampling, "sampling",
                                      {{"all", Sampling::kAll},
                                       {"bootstrap", Sampling::kBootstrap},
                                       {"subsample", Sampling::kSubsample},
                                       {"resample", Sampling::kResample}});
  lottery.n = count_that_fits(n_rows, "n_rows");
  lottery.n_draws = count_that_fits(n_draws, "n_draws");
  if (lottery.n == 0) throw nb::value_error("n_rows: a tree needs at least one row");
  if (units) {
    lottery.units = require<std::uint32_t>(*units, "units", {-1});
    lottery.n_units = count_that_fits(units->shape(0), "the number of units");
    if (lottery.n_units == 0) throw nb::value_error("units: at least one is needed");
    for (std::uint32_t i = 0; i < lottery.n_units; ++i)
      if (lottery.units[i] >= lottery.n) throw nb::value_error("units: a unit belongs to no row");
  }
  if (odds) lottery.weight = require<std::uint32_t>(*odds, "odds", {static_cast<std::int64_t>(lottery.n)});
  if (groups) {
    if (odds) throw nb::value_error("groups: rows drawn by odds have no groups");
    lottery.group = require<std::uint32_t>(*groups, "groups", {static_cast<std::int64_t>(lottery.n)});
    const std::uint64_t last = *std::max_element(lottery.group, lottery.group + lottery.n);
    lottery.n_groups = static_cast<std::uint32_t>(within<std::uint64_t>(last + 1, "the number of groups", 1, lottery.n));
  }
}

void register_draw(nb::module_& module) {
  nb::class_<DrawArgument>(module, "Draw", "How the trees of a forest draw their rows.")
      .def(nb::init<const std::string&, std::uint64_t, std::optional<AnyArray>, std::uint64_t, std::optional<AnyArray>,
                    std::uint64_t, std::optional<AnyArray>>(),
           nb::kw_only(), "sampling"_a, "n_rows"_a, "units"_a.noconvert().none(), "n_draws"_a,
           "odds"_a.noconvert().none(), "seed"_a, "groups"_a.noconvert().none() = nb::none());
  module.def("in_bag_counts", &counts, "draw"_a, "tree"_a, "How often each training row is in the bag of a tree.");
}

}  // namespace surewood::binding
