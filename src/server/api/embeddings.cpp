#include "server/api/embeddings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/limits.h"
#include "server/api/engine_events.h"

namespace tempo9::server {
namespace {

using Ids = std::vector<TokenId>;

// Enough to fill steps, and few beside what waits in the engine's queue.
constexpr size_t kMostAtOnce = 32;

class EmbeddingJob : public std::enable_shared_from_this<EmbeddingJob> {
 public:
  EmbeddingJob(Service& service, int dimensions, std::vector<Ids> prompts,
               std::shared_ptr<ResponseWriter> response, EmbeddingsDone done)
      : service_(service),
        dimensions_(static_cast<size_t>(dimensions)),
        prompts_(std::move(prompts)),
        response_(std::move(response)),
        done_(std::move(done)) {
    ids_.resize(prompts_.size());
    result_.vectors.resize(prompts_.size());
  }

  void start() {
    response_->on_closed([weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->over_ = true;
        self->cancel();
      }
    });
    if (prompts_.empty()) return end(result_);
    submit_more();
  }

  // From the engine's thread.
  void receive(size_t index, engine::Event event) {
    if (events_.put(index, std::move(event)))
      response_->post([self = shared_from_this()] { self->take_events(); });
  }

 private:
  void submit_more() {
    for (; !over_ && next_ < prompts_.size() && next_ - finished_ < kMostAtOnce; ++next_) {
      result_.prompt_tokens += static_cast<int>(prompts_[next_].size());
      engine::Request request;
      request.prompt = std::move(prompts_[next_]);
      request.embed = true;
      auto sink = std::make_shared<NumberedSink<EmbeddingJob>>(shared_from_this(), next_);
      const auto id = service_.engine().submit(std::move(request), std::move(sink));
      if (!id) return fail({id.error().code, id.error().message});
      ids_[next_] = *id;
    }
  }

  void take_events() {
    for (auto& [index, event] : events_.take()) {
      if (over_) return;
      if (auto* finished = std::get_if<engine::Finished>(&event)) take(index, std::move(*finished));
    }
    submit_more();
  }

  void take(size_t index, engine::Finished event) {
    if (event.reason == engine::FinishReason::kError)
      return fail({event.error.code, std::move(event.error.message)});
    if (event.reason == engine::FinishReason::kCancelled)
      return fail({ErrorCode::kCancelled, "the request was cancelled because the server is shutting down"});
    std::vector<float>& vector = result_.vectors[index];
    vector = std::move(event.embedding);
    if (dimensions_ > 0) shorten(vector);
    if (++finished_ == result_.vectors.size()) end(result_);
  }

  void shorten(std::vector<float>& vector) const {
    vector.resize(std::min(vector.size(), dimensions_));
    double squares = 0;
    for (const float value : vector) squares += static_cast<double>(value) * value;
    const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
    for (float& value : vector) value = static_cast<float>(value * scale);
  }

  void fail(ApiError error) {
    cancel();
    response_->note("error", error.message);
    end(tl::unexpected<ApiError>(std::move(error)));
  }

  void end(const ApiResult<Embeddings>& result) {
    over_ = true;
    if (result) response_->note("prompt_tokens", std::to_string(result->prompt_tokens));
    done_(result);
  }

  void cancel() {
    for (size_t i = 0; i < next_; ++i) service_.engine().cancel(ids_[i]);
  }

  Service& service_;
  const size_t dimensions_;
  std::vector<Ids> prompts_;
  const std::shared_ptr<ResponseWriter> response_;
  const EmbeddingsDone done_;
  std::vector<engine::RequestId> ids_;
  Embeddings result_;
  size_t next_ = 0, finished_ = 0;  // submitted; answered
  bool over_ = false;
  EngineEvents events_;
};

// What stands in a text for a special token is text here, and models made for embeddings may want an end.
ApiResult<Ids> tokenise(const Service& service, const EmbeddingRequest& request, const TextPrompt& input) {
  const engine::Engine& engine = service.engine();
  const auto most = static_cast<size_t>(engine.info().context_length - 1);
  Ids ids;
  if (const auto* given = std::get_if<Ids>(&input)) {
    ids = *given;
  } else {
    text::SpecialTokens none;
    none.recognise = text::SpecialTokens::Recognise::kNowhere;
    auto prepared = engine.prepare(std::get<std::string>(input), none);
    if (!prepared) return api_failure(prepared.error(), request.input_field);
    ids = *std::move(prepared);
    const auto end = engine.tokenizer().end_of_text();
    if (engine.tokenizer().adds_end_of_text() && end && (ids.empty() || ids.back() != *end))
      ids.push_back(*end);
  }
  if (ids.empty())
    return api_failure({ErrorCode::kInvalidArgument, "the text is empty"}, request.input_field);
  if (ids.size() <= most) return ids;
  const int tokens = static_cast<int>(ids.size());
  ids.resize(most);
  if (request.truncate) return ids;
  const int context = engine.info().context_length;
  return tl::unexpected<ApiError>(
      ApiError{ErrorCode::kTooLong, fmt::format("a text of {} tokens does not fit into {}", tokens, context),
               request.input_field, tokens, context});
}

ApiResult<std::vector<Ids>> tokenise_all(Service& service, const EmbeddingRequest& request) {
  service.note_unknown_fields(request.unknown_fields);
  if (const Status known = service.check_model(request.model); !known)
    return api_failure(known.error(), "model");
  if (service.draining()) return api_failure({ErrorCode::kBusy, "the server is shutting down"});
  const int size = service.engine().info().embedding.size;
  if (request.dimensions > size)
    return api_failure(
        {ErrorCode::kInvalidArgument, fmt::format("dimensions: this model's vectors have {}", size)},
        "dimensions");
  std::vector<Ids> prompts;
  for (const TextPrompt& input : request.inputs) {
    ApiResult<Ids> ids = tokenise(service, request, input);
    if (!ids) return tl::unexpected<ApiError>(std::move(ids).error());
    prompts.push_back(*std::move(ids));
  }
  return prompts;
}

}  // namespace

void start_embedding(Service& service, const EmbeddingRequest& request,
                     std::shared_ptr<ResponseWriter> response, EmbeddingsDone done) {
  ApiResult<std::vector<Ids>> prompts = tokenise_all(service, request);
  if (!prompts) return done(tl::unexpected<ApiError>(std::move(prompts).error()));
  std::make_shared<EmbeddingJob>(service, request.dimensions, *std::move(prompts), std::move(response),
                                 std::move(done))
      ->start();
}

Json describe_pooling(const Service& service) {
  const engine::EmbeddingInfo& info = service.engine().info().embedding;
  const char* name = "mean";
  if (info.pooling == engine::Pooling::kFirst) name = "cls";
  if (info.pooling == engine::Pooling::kLast) name = "last";
  return {{"pooling", name}, {"from_generative_model", !info.stated}};
}

}  // namespace tempo9::server
