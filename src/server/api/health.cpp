#include "server/api/health.h"

#include "server/api/json_parse.h"
#include "server/api/measures.h"

namespace tempo9::server {

namespace {

// Counts without a decimal point.
Json number(double value) {
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

}  // namespace

void handle_health(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  const engine::Stats stats = service.engine().stats();
  const bool draining = service.draining();
  const Json body = {{"status", draining ? "stopping" : "ok"},
                     {"model", service.model_id()},
                     {"running", stats.running},
                     {"queued", stats.queued}};
  response->send({draining ? 503 : 200, {{"Content-Type", "application/json"}}, dump_json(body)});
}

void handle_metrics(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  response->send({200,
                  {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                  write_exposition(service.engine().stats(), service.counts())});
}

void handle_status(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  const engine::Stats stats = service.engine().stats();
  Json body = {{"status", service.draining() ? "stopping" : "ok"},
               {"model", service.model_id()},
               {"context_length", service.engine().info().context_length}};
  for (const Measure& m : list_measures(stats, service.counts())) {
    std::string name(m.name.substr(m.name.find('_') + 1));
    if (m.histogram != nullptr)
      body[name] = {{"count", m.histogram->count()}, {"sum", m.histogram->sum()}};
    else if (m.label.empty())
      body[name] = number(m.value);
    else
      body[name][std::string(m.label_value)] = number(m.value);
  }
  response->send({200, {{"Content-Type", "application/json"}}, dump_json(body)});
}

void handle_root(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  response->send(
      {200,
       {{"Content-Type", "text/plain; charset=utf-8"}},
       fmt::format("Tempo9 is running and serves '{}'. The API is at /v1.\n", service.model_id())});
}

}  // namespace tempo9::server
