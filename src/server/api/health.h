// GET /health for supervisors, /metrics for Prometheus and routers, /v1/status with the same as JSON, and a
// short text at / for people and for clients that knock first.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

void handle_health(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_metrics(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_status(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_root(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
