// What all routes work with: the engine, the model's template and the server's choices.
// Threads: any; immutable but for `draining`, the counts, the set of unknown fields and the responses kept.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "chat/chat_template.h"
#include "chat/reply_parser.h"
#include "engine/engine.h"
#include "server/api/api_request.h"
#include "server/api/response_store.h"

namespace tempo9::server {

// What only the server can count.
struct ServerCounts {
  std::array<uint64_t, chat::kCallFaultNames.size()> call_faults{};
};

struct ServiceOptions {
  std::string model_id;       // empty: the model's own
  bool strict_model = false;  // requests for other models are refused instead of served
};

class Service {
 public:
  // `engine` must outlive the service. A template that does not parse is not an error yet: other endpoints
  // work without it.
  Service(engine::Engine& engine, ServiceOptions options);

  engine::Engine& engine() const { return engine_; }
  const std::string& model_id() const { return options_.model_id; }
  int64_t created() const { return created_; }  // seconds since 1970
  Result<std::shared_ptr<const chat::ChatTemplate>> chat_template() const { return template_; }

  // kNotFound for a model that is not served.
  Status check_model(const std::string& asked) const;
  // Logs each name once.
  void note_unknown_fields(const std::vector<std::string>& names);

  // Calls that replies got wrong, since the start.
  void count_call_faults(const chat::CallFaults& faults);
  ServerCounts counts() const;

  // Those that clients may come back to.
  ResponseStore& responses() { return responses_; }

  // From then on new generations are refused as kBusy.
  void drain() { draining_ = true; }
  bool draining() const { return draining_; }

 private:
  engine::Engine& engine_;
  ServiceOptions options_;
  int64_t created_;
  Result<std::shared_ptr<const chat::ChatTemplate>> template_;
  ResponseStore responses_;
  std::atomic<bool> draining_ = false;
  mutable std::mutex mutex_;
  ServerCounts counts_;                   // under mutex_
  std::set<std::string> unknown_fields_;  // under mutex_
};

}  // namespace tempo9::server
