#include "server/api/openai_responses.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/api/generation.h"
#include "server/api/openai_errors.h"
#include "server/api/prompts.h"
#include "server/api/query.h"
#include "server/api/reply_parts.h"
#include "server/api/responses_reply.h"
#include "server/api/responses_request.h"

namespace tempo9::server {
namespace {

constexpr int kDefaultPage = 20, kMostPage = 100;  // items of a list, as the protocol says

const Json* member(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Json member_or(const Json& object, std::string_view name, Json fallback) {
  const Json* found = member(object, name);
  return found == nullptr ? fallback : *found;
}

// `input` as a list of items, each with an id.
Json list_items(const Json& body, std::string_view request_id) {
  const Json input = member_or(body, "input", Json::array());
  Json items = Json::array();
  if (input.is_string()) {
    const Json text = {{"type", "input_text"}, {"text", input}};
    items.push_back({{"type", "message"}, {"role", "user"}, {"content", Json::array({text})}});
  } else if (input.is_array()) {
    items = input;
  }
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].is_object() && member(items[i], "id") == nullptr)
      items[i]["id"] = fmt::format("{}{}", derive_id("in_", request_id), i);
  return items;
}

Json joined(Json first, const Json& second) {
  for (const Json& item : second) first.push_back(item);
  return first;
}

Response not_kept(std::string_view id, const char* param, const char* code, int status) {
  const std::string message =
      fmt::format("Response with id '{}' not found: it was not stored here, or was given up for newer ones",
                  abbreviate(id));
  return openai_error({ErrorCode::kInvalidArgument, message, param}, code, status);
}

// Puts what came before in front of the request's own items. False: it is not here any more.
bool continue_previous(Service& service, Json& body, std::string_view request_id) {
  const Json* previous = member(body, "previous_response_id");
  if (previous == nullptr || !previous->is_string()) return true;
  const auto kept = service.responses().find(previous->get_ref<const std::string&>());
  if (!kept) return false;
  const Result<Json> input = parse_json(kept->input), output = parse_json(kept->output);
  if (!input || !output) return false;
  body["input"] = joined(joined(*input, *output), list_items(body, request_id));
  return true;
}

// The response object before anything has come of it.
Json make_frame(const Service& service, const Json& body, std::string_view request_id) {
  const sample::SamplingOptions& usual = service.engine().info().default_sampling;
  return {{"id", derive_id("resp_", request_id)},
          {"object", "response"},
          {"created_at", seconds_now()},
          {"status", "queued"},
          {"error", nullptr},
          {"incomplete_details", nullptr},
          {"instructions", member_or(body, "instructions", nullptr)},
          {"max_output_tokens", member_or(body, "max_output_tokens", nullptr)},
          {"model", service.model_id()},
          {"output", Json::array()},
          {"parallel_tool_calls", member_or(body, "parallel_tool_calls", true)},
          {"previous_response_id", member_or(body, "previous_response_id", nullptr)},
          {"reasoning", member_or(body, "reasoning", {{"effort", nullptr}, {"summary", nullptr}})},
          {"store", member_or(body, "store", true)},
          {"temperature", member_or(body, "temperature", usual.temperature)},
          {"text", member_or(body, "text", {{"format", {{"type", "text"}}}})},
          {"tool_choice", member_or(body, "tool_choice", "auto")},
          {"tools", member_or(body, "tools", Json::array())},
          {"top_p", member_or(body, "top_p", usual.top_p)},
          {"truncation", "disabled"},
          {"usage", nullptr},
          {"user", member_or(body, "user", nullptr)},
          {"metadata", member_or(body, "metadata", Json::object())}};
}

bool includes(const Json& body, std::string_view what) {
  const Json* list = member(body, "include");
  return list != nullptr && list->is_array() && std::ranges::find(*list, Json(what)) != list->end();
}

ResponsesReplyOptions reply_options(Service& service, const Json& body, const ApiRequest& asked,
                                    const std::string& request_id) {
  ResponsesReplyOptions options;
  options.request_id = request_id;
  options.tools = CalledTools(std::get<chat::ChatRequest>(asked.input).tools);
  options.frame = make_frame(service, body, request_id);
  options.stream = asked.stream;
  options.logprobs = asked.sampling.top_logprobs >= 0;
  options.summary = member(options.frame["reasoning"], "summary") != nullptr;
  options.carries_reasoning = includes(body, "reasoning.encrypted_content");
  if (options.frame["store"] == true)
    options.keep = [&service, input = dump_json(list_items(body, request_id))](const Json& whole) {
      service.responses().put(whole["id"], {dump_json(whole), input, dump_json(whole["output"])});
    };
  return options;
}

// The items of a list that a query asks for: `order`, `after` and `limit`.
Response list_page(Json items, std::string_view query) {
  if (query_value(query, "order").value_or("desc") != "asc") std::reverse(items.begin(), items.end());
  if (const auto after = query_value(query, "after")) {
    const auto is_it = [&](const Json& item) { return member_or(item, "id", "") == *after; };
    const auto found = std::find_if(items.begin(), items.end(), is_it);
    if (found != items.end()) items.erase(items.begin(), std::next(found));
  }
  const int limit = std::clamp(query_number(query, "limit").value_or(kDefaultPage), 1, kMostPage);
  const bool has_more = items.size() > static_cast<size_t>(limit);
  if (has_more) items.erase(items.begin() + limit, items.end());
  const auto id_of = [](const Json& item) { return member_or(item, "id", nullptr); };
  return json_response(200, {{"object", "list"},
                             {"first_id", items.empty() ? Json() : id_of(items.front())},
                             {"last_id", items.empty() ? Json() : id_of(items.back())},
                             {"has_more", has_more},
                             {"data", items}});
}

constexpr std::string_view kPath = "/v1/responses/";

}  // namespace

void handle_openai_responses(Service& service, HttpRequest request,
                             std::shared_ptr<ResponseWriter> response) {
  Result<Json> body = parse_json(request.body);
  if (!body) return response->send(openai_error({body.error().code, body.error().message}));
  if (!continue_previous(service, *body, request.id))
    return response->send(not_kept((*body)["previous_response_id"].get<std::string>(), "previous_response_id",
                                   "previous_response_not_found", 400));
  ApiResult<ApiRequest> parsed = read_openai_responses(*body, service.engine().info());
  if (!parsed) return response->send(openai_error(parsed.error()));
  auto reply = make_responses_reply(reply_options(service, *body, *parsed, request.id), response);
  start_generation(service, *std::move(parsed), std::move(reply), std::move(response));
}

void handle_response_count(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  const ApiResult<int> tokens =
      count_tokens(service, parse_openai_responses(request.body, service.engine().info()));
  if (!tokens) return response->send(openai_error(tokens.error()));
  response->send(json_response(200, {{"object", "response.input_tokens"}, {"input_tokens", *tokens}}));
}

void handle_kept_response(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  constexpr std::string_view kItems = "/input_items";
  std::string_view id = std::string_view(request.path).substr(kPath.size());
  const bool items = id.ends_with(kItems);
  if (items) id.remove_suffix(kItems.size());
  const auto kept = service.responses().find(id);
  if (!kept) return response->send(not_kept(id, "response_id", "not_found", 404));
  if (!items) return response->send({200, {{"Content-Type", "application/json"}}, kept->response});
  response->send(list_page(parse_json(kept->input).value_or(Json::array()), request.query));
}

void handle_response_deletion(Service& service, HttpRequest request,
                              std::shared_ptr<ResponseWriter> response) {
  const std::string_view id = std::string_view(request.path).substr(kPath.size());
  if (!service.responses().erase(id)) return response->send(not_kept(id, "response_id", "not_found", 404));
  response->send(json_response(200, {{"id", id}, {"object", "response"}, {"deleted", true}}));
}

void handle_response_socket(Service&, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  response->send(openai_refusal({404, "WebSockets are not spoken here; send the request with POST"}));
}

}  // namespace tempo9::server
