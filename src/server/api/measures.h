// What the engine says about itself, named: one list from which /metrics and /v1/status are made.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/stats.h"
#include "server/api/service.h"

namespace tempo9::server {

struct Measure {
  std::string_view name;  // as Prometheus wants it: unit last, `_total` for what only grows
  std::string_view help;
  std::string_view label{}, label_value{};  // for one of several of the same name; those stand together
  double value = 0;
  const engine::Histogram* histogram = nullptr;  // instead of `value`

  bool only_grows() const { return name.ends_with("_total"); }
};

// Valid as long as `stats`.
std::vector<Measure> list_measures(const engine::Stats& stats, const ServerCounts& counts);

// The text format of Prometheus, version 0.0.4. Measures that routers look for by another engine's name are
// there under that name too.
std::string write_exposition(const engine::Stats& stats, const ServerCounts& counts);

}  // namespace tempo9::server
