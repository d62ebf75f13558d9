// Which handler answers which request. Every endpoint is one line of the table in routes.cpp.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/http_server.h"

namespace tempo9::server {

class Application final : public HttpApplication {
 public:
  // `service` must outlive the application.
  explicit Application(Service& service) : service_(service) {}
  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) override;
  Response refuse(const Refusal& refusal, std::string_view path) override;

 private:
  Service& service_;
};

}  // namespace tempo9::server
