// What tests of the request parsers share: bodies in, a text that shows the conversation out.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "server/api/api_error.h"
#include "server/api/api_request.h"
#include "server/api/json_parse.h"

namespace tempo9::server::testing {

using Parse = ApiResult<ApiRequest> (*)(std::string_view, const engine::ModelInfo&);

inline engine::ModelInfo model() {
  engine::ModelInfo info;
  info.vocabulary_size = 1000;
  return info;
}

inline ApiRequest accepted(Parse parse, const std::string& body) {
  auto request = parse(body, model());
  EXPECT_TRUE(request) << request.error().message << "\n" << body;
  return request ? *request : ApiRequest{};
}

inline const chat::ChatRequest& conversation(const ApiRequest& request) {
  return std::get<chat::ChatRequest>(request.input);
}

// One line a message: role, parts, reasoning, calls, ids.
inline std::string show(const chat::ChatRequest& request) {
  static constexpr const char* kRoles[] = {"system", "developer", "user", "assistant", "tool"};
  std::string shown;
  for (const chat::Message& message : request.messages) {
    shown += kRoles[static_cast<int>(message.role)];
    for (const chat::ContentPart& part : message.content)
      shown += part.kind == chat::ContentPart::Kind::kImage ? " image[" + part.image_bytes + "]"
                                                            : " '" + part.text + "'";
    if (!message.reasoning.empty()) shown += " reasoning '" + message.reasoning + "'";
    for (const chat::ToolCall& call : message.tool_calls)
      shown += " call " + call.id + " " + call.name + dump_json(call.arguments);
    if (!message.tool_call_id.empty()) shown += " for " + message.tool_call_id;
    if (!message.tool_name.empty()) shown += " of " + message.tool_name;
    shown += "\n";
  }
  return shown;
}

inline std::string show(const ApiRequest& request) {
  return show(conversation(request));
}

// One line a tool: its declaration, and what else there is to it.
inline std::string show_tools(const ApiRequest& request) {
  std::string shown;
  for (const chat::Tool& tool : conversation(request).tools) {
    shown += dump_json(tool.declaration);
    if (!tool.name_space.empty()) shown += " " + tool.name_space + "/" + tool.own_name;
    if (tool.kind == chat::Tool::Kind::kFreeform) shown += " free-form";
    if (tool.kind == chat::Tool::Kind::kToolSearch) shown += " search";
    if (tool.strict) shown += " strict";
    if (tool.eager) shown += " eager";
    if (tool.deferred) shown += " deferred";
    shown += "\n";
  }
  return shown;
}

struct Fault {
  std::string body, param;
};

inline void expect_faults(Parse parse, ErrorCode code, const std::vector<Fault>& faults) {
  for (const auto& [body, param] : faults) {
    const auto request = parse(body, model());
    ASSERT_FALSE(request) << body;
    const ApiError& error = request.error();
    EXPECT_EQ(error.param, param) << body << ": " << error.message;
    EXPECT_EQ(error.code, code) << body << ": " << error.message;
    if (!param.empty()) {
      EXPECT_TRUE(error.message.starts_with(param + ": ")) << error.message;
    }
  }
}

// Requests that are right, but ask for what cannot be answered yet.
inline void expect_gaps(Parse parse, const std::vector<Fault>& gaps) {
  for (const auto& [body, param] : gaps) {
    const ApiRequest request = accepted(parse, body);
    ASSERT_TRUE(request.gap) << body;
    EXPECT_EQ(request.gap->code, ErrorCode::kUnsupported) << body;
    EXPECT_EQ(request.gap->param, param) << body << ": " << request.gap->message;
    EXPECT_TRUE(request.gap->message.starts_with(param + ": ")) << request.gap->message;
  }
}

}  // namespace tempo9::server::testing
