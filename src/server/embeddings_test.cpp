// POST /v1/embeddings, /api/embed and /api/embeddings over a real socket, with a fake engine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "server/api/base64.h"
#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;

std::vector<float> vector_of(std::string_view text) {
  return FakeEngine::embed(FakeEngine::bytes(text));
}

TEST(Embeddings, AreGivenForEachTextInOrder) {
  TestServer server;
  const Json body =
      body_of(server.post("/v1/embeddings", {{"model", "m"}, {"input", Json::array({"one", "three"})}}));
  EXPECT_EQ(body["object"], "list");
  EXPECT_EQ(body["model"], "fake-model");
  ASSERT_EQ(body["data"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(body["data"][i]["object"], "embedding");
    EXPECT_EQ(body["data"][i]["index"], i);
    EXPECT_EQ(body["data"][i]["embedding"].get<std::vector<float>>(), vector_of(i == 0 ? "one" : "three"));
  }
  EXPECT_EQ(body["usage"], (Json{{"prompt_tokens", 8}, {"total_tokens", 8}}));
  EXPECT_EQ(body["pooling"], "mean");
  EXPECT_EQ(body["from_generative_model"], true);
}

TEST(Embeddings, TakeTextsAndTokens) {
  TestServer server;
  const auto first = [&](const Json& input) {
    return body_of(server.post("/v1/embeddings", {{"input", input}}))["data"][0]["embedding"]
        .get<std::vector<float>>();
  };
  EXPECT_EQ(first("Hi"), vector_of("Hi"));
  EXPECT_EQ(first(Json::array({72, 105})), vector_of("Hi"));
  EXPECT_EQ(first(Json::array({Json::array({72, 105})})), vector_of("Hi"));
  EXPECT_EQ(first("<|end|>"), vector_of("<|end|>"));  // no special token
}

TEST(Embeddings, ComeAsBytesWhenAsked) {
  TestServer server;
  const Json body = body_of(server.post("/v1/embeddings", {{"input", "Hi"}, {"encoding_format", "base64"}}));
  const auto bytes = decode_base64(body["data"][0]["embedding"].get<std::string>());
  ASSERT_TRUE(bytes && bytes->size() == 4 * sizeof(float));
  std::vector<float> vector(4);
  std::memcpy(vector.data(), bytes->data(), bytes->size());
  EXPECT_EQ(vector, vector_of("Hi"));
}

TEST(Embeddings, ShorterOnesHaveLengthOne) {
  TestServer server;
  const Json body = body_of(server.post("/v1/embeddings", {{"input", "Hi"}, {"dimensions", 2}}));
  const auto vector = body["data"][0]["embedding"].get<std::vector<float>>();
  ASSERT_EQ(vector.size(), 2u);
  EXPECT_FLOAT_EQ(std::hypot(vector[0], vector[1]), 1);
  EXPECT_FLOAT_EQ(vector[0] / vector[1], vector_of("Hi")[0] / vector_of("Hi")[1]);
}

TEST(Embeddings, ManyTextsAreNotMixedUp) {
  TestServer server;
  Json input = Json::array();
  for (size_t i = 1; i <= 300; ++i) input.push_back(std::string(i, 'x'));
  const Json body = body_of(server.post("/v1/embeddings", {{"input", input}}));
  ASSERT_EQ(body["data"].size(), 300u);
  for (size_t i = 0; i < 300; ++i) EXPECT_EQ(body["data"][i]["embedding"][0], i + 1);
}

TEST(Embeddings, NameWhatIsWrong) {
  TestServer server;
  const Json wrong = {{"input", Json::array()}, {"dimensions", 5}, {"encoding_format", "hex"}};
  for (const auto& [name, value] : wrong.items()) {
    Json body = {{"input", "Hi"}};
    body[name] = value;
    const Answer answer = server.post("/v1/embeddings", body);
    EXPECT_EQ(answer.status, 400) << name;
    EXPECT_EQ(error_of(answer)["param"], name);
  }
  EXPECT_EQ(server.post("/v1/embeddings", {{"input", ""}}).status, 400);
  const Answer longer = server.post("/v1/embeddings", {{"input", std::string(4096, 'x')}});
  EXPECT_EQ(error_of(longer)["code"], "context_length_exceeded");
}

TEST(Embeddings, LeavingCancelsThem) {
  TestServer server;
  server.engine.change([](FakeScript& script) { script.hold = true; });
  RawClient client(server.port());
  client.request("POST", "/v1/embeddings", dump_json({{"input", Json::array({"a", "b"})}}));
  ASSERT_TRUE(server.engine.wait_for_submits(2));
  client.close();
  EXPECT_TRUE(server.engine.wait_for_cancels(2));
}

TEST(Embeddings, AFullServerSaysWhenToComeBack) {
  TestServer server;
  server.engine.change([](FakeScript& script) {
    script.submit_error = Error{ErrorCode::kBusy, "the queue is full"};
  });
  for (const char* path : {"/v1/embeddings", "/api/embed"}) {
    const Answer answer = server.post(path, {{"input", "Hi"}});
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.headers.contains("retry-after"));
  }
}

TEST(OllamaEmbed, GivesOneVectorForEachText) {
  TestServer server;
  const Json body =
      body_of(server.post("/api/embed", {{"model", "m"}, {"input", Json::array({"one", "three"})}}));
  EXPECT_EQ(body["model"], "m");
  ASSERT_EQ(body["embeddings"].size(), 2u);
  EXPECT_EQ(body["embeddings"][1].get<std::vector<float>>(), vector_of("three"));
  EXPECT_EQ(body["prompt_eval_count"], 8);
  EXPECT_TRUE(body["total_duration"].is_number_integer());
  EXPECT_EQ(body_of(server.post("/api/embed", {{"model", "m"}, {"input", "one"}}))["embeddings"].size(), 1u);
  EXPECT_EQ(body_of(server.post("/api/embed", {{"model", "m"}}))["embeddings"].size(), 0u);
}

TEST(OllamaEmbed, CutsLongTextsUnlessTold) {
  TestServer server;
  const Json body = {{"model", "m"}, {"input", std::string(5000, 'x')}};
  EXPECT_EQ(body_of(server.post("/api/embed", body))["prompt_eval_count"], 4095);
  Json strict = body;
  strict["truncate"] = false;
  EXPECT_EQ(server.post("/api/embed", strict).status, 400);
}

TEST(OllamaEmbed, TheOlderEndpointGivesOne) {
  TestServer server;
  const Json body = body_of(server.post("/api/embeddings", {{"model", "m"}, {"prompt", "one"}}));
  EXPECT_EQ(body["embedding"].get<std::vector<float>>(), vector_of("one"));
  EXPECT_EQ(body_of(server.post("/api/embeddings", {{"model", "m"}, {"prompt", ""}}))["embedding"],
            Json::array());
}

}  // namespace
}  // namespace tempo9::server
