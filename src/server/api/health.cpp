#include "server/api/health.h"

#include "server/api/json_parse.h"

namespace tempo9::server {

void handle_health(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  const engine::Stats stats = service.engine().stats();
  const bool draining = service.draining();
  const Json body = {{"status", draining ? "stopping" : "ok"},
                     {"model", service.model_id()},
                     {"running", stats.running},
                     {"queued", stats.queued}};
  response->send({draining ? 503 : 200, {{"Content-Type", "application/json"}}, dump_json(body)});
}

void handle_root(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  response->send(
      {200,
       {{"Content-Type", "text/plain; charset=utf-8"}},
       fmt::format("Tempo9 is running and serves '{}'. The API is at /v1.\n", service.model_id())});
}

}  // namespace tempo9::server
