// The outer form of OpenAI's completion replies, whole and streamed; what stands in a choice is the
// endpoint's.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/api/chat_delta.h"
#include "server/api/client_calls.h"
#include "server/api/json_parse.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

// How one endpoint writes a choice, without the members `index` and `finish_reason` that both have.
struct OpenAiShape {
  const char* id_prefix;
  const char* whole_object;
  const char* chunk_object;
  // `reply` holds all of a choice's text, `calls` its complete calls.
  Json (*whole_choice)(const ChatDelta& reply, Json calls, bool logprobs);
  Json (*chunk_choice)(const ChatDelta& delta, bool logprobs);
  // A piece of a call. Null: the endpoint has none.
  Json (*call_choice)(Json call);
  // The first chunk of a choice, and a chunk that says nothing (keeps clients from giving up).
  Json (*opening_choice)();
  Json (*silent_choice)();
};

struct OpenAiReplyOptions {
  std::string request_id, model;
  int64_t created = 0;
  size_t choices = 1;  // replies in all
  CalledTools tools;
  bool stream = false, stream_usage = false, logprobs = false;
};

std::unique_ptr<ReplyWriter> make_openai_reply(const OpenAiShape& shape, OpenAiReplyOptions options,
                                               std::shared_ptr<ResponseWriter> response);

// Bytes as text: what is not UTF-8 becomes replacement characters.
std::string printable(std::string_view bytes);
// One object a token, as Chat and Responses write them.
Json logprob_entries(const std::vector<TokenReport>& tokens);
// JSON has no infinity; OpenAI writes this for "never".
double finite_logprob(float logprob);

}  // namespace tempo9::server
