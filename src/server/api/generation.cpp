#include "server/api/generation.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "chat/reply_parser.h"
#include "engine/token_stream.h"
#include "server/api/engine_events.h"
#include "server/api/prompts.h"
#include "server/api/reply_form.h"
#include "server/api/token_reports.h"

namespace tempo9::server {
namespace {

// One reply: the text of one engine request.
struct Sequence {
  Sequence(engine::TokenStream the_stream, chat::ReplyParser the_parser)
      : stream(std::move(the_stream)), parser(std::move(the_parser)) {}
  engine::RequestId id = 0;
  engine::TokenStream stream;
  chat::ReplyParser parser;
  TokenReports reports;
  int tokens = 0;            // pushed into `stream`
  int reasoning_tokens = 0;  // of them
  int calls = 0;             // complete ones
  bool stopped = false;      // by a stop string, or behind the only call it may hold
  bool only_call = false;    // the latter
  // Log-probabilities of text that the parser holds back, if it may become a call.
  std::vector<TokenReport> held_reports;
  engine::Usage usage;  // once it has finished
};

class Generation : public std::enable_shared_from_this<Generation> {
 public:
  Generation(Service& service, ApiRequest request, std::unique_ptr<ReplyWriter> reply,
             std::shared_ptr<ResponseWriter> response)
      : service_(service),
        request_(std::move(request)),
        reply_(std::move(reply)),
        response_(std::move(response)) {}

  void start();
  // From the engine's thread.
  void receive(size_t index, engine::Event event);

 private:
  void begin(const grammar::Compiled& form);
  Status submit(const std::shared_ptr<const grammar::CompiledGrammar>& form);
  Sequence make_sequence(const chat::ReplyStart& start) const;
  void take_events();
  void handle(size_t index, const engine::TokenChosen& event);
  void handle(size_t index, engine::Finished event);
  void emit(size_t index, const engine::TokenStream::Piece& piece, std::optional<StopReason> finish);
  std::vector<chat::ReplyPiece> parse(Sequence& sequence, const engine::TokenStream::Piece& piece,
                                      std::optional<StopReason> finish);
  void count_calls(Sequence& sequence, std::vector<chat::ReplyPiece>& pieces);
  void send(size_t index, std::vector<chat::ReplyPiece> pieces, std::optional<StopReason> finish);
  void note_faults(const chat::CallFaults& faults);
  std::span<const chat::Tool> callable_tools() const;
  void finish();
  void fail(const ApiError& error);
  void cancel();
  ReplyUsage usage() const;
  void note_usage(const ReplyUsage& usage);

  Service& service_;
  const ApiRequest request_;
  const std::unique_ptr<ReplyWriter> reply_;
  const std::shared_ptr<ResponseWriter> response_;
  std::vector<Prompt> prompts_;      // until they are submitted
  std::vector<int> prompt_tokens_;   // of each prompt
  std::vector<Sequence> sequences_;  // `choices` for each prompt
  size_t finished_ = 0;
  bool over_ = false;  // completed, failed or left alone: events no longer matter

  EngineEvents events_;
};

uint64_t random_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

// The first choice draws as if it were alone; the others each have their own.
uint64_t choice_seed(uint64_t seed, size_t choice) {
  return seed + choice * 0x9E3779B97F4A7C15u;
}

void Generation::start() {
  service_.note_unknown_fields(request_.unknown_fields);
  if (const Status known = service_.check_model(request_.model); !known)
    return fail({known.error().code, known.error().message, "model"});
  if (service_.draining()) return fail({ErrorCode::kBusy, "the server is shutting down"});
  if (request_.gap) return fail(*request_.gap);
  auto prompts = make_prompts(service_, request_);
  if (!prompts) return fail(prompts.error());
  prompts_ = *std::move(prompts);
  response_->on_closed([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->over_ = true;
      self->cancel();
      self->note_usage(self->usage());
    }
  });
  const auto form = reply_form(request_, prompts_.empty() ? chat::ReplyStart() : prompts_.front().reply);
  if (!form) return fail(form.error());
  if (!*form) return begin(nullptr);
  service_.engine().compile(**form, [self = shared_from_this()](const grammar::Compiled& compiled) {
    self->response_->post([self, compiled] { self->begin(compiled); });
  });
}

void Generation::begin(const grammar::Compiled& form) {
  if (over_) return;
  if (!form) return fail({form.error().code, form.error().message, form_field(request_)});
  if (const Status submitted = submit(*form); !submitted)
    return fail({submitted.error().code, submitted.error().message});
  if (!over_) reply_->begin(usage().prompt_tokens);
}

Status Generation::submit(const std::shared_ptr<const grammar::CompiledGrammar>& form) {
  const std::vector<Prompt> prompts = std::exchange(prompts_, {});
  const uint64_t seed = request_.seed.value_or(random_seed());
  const size_t choices = static_cast<size_t>(request_.choices);
  for (const Prompt& prompt : prompts) prompt_tokens_.push_back(static_cast<int>(prompt.ids.size()));
  sequences_.reserve(prompts.size() * choices);
  for (size_t index = 0; index < prompts.size() * choices; ++index) {
    const Prompt& prompt = prompts[index / choices];
    engine::Request request{prompt.ids, request_.sampling, request_.max_new_tokens, request_.ignore_end,
                            prompt.boundaries};
    request.sampling.seed = choice_seed(seed, index % choices);
    request.grammar = form;
    auto sink = std::make_shared<NumberedSink<Generation>>(shared_from_this(), index);
    TRY_ASSIGN(const engine::RequestId id, service_.engine().submit(std::move(request), std::move(sink)));
    sequences_.push_back(make_sequence(prompt.reply));
    sequences_.back().id = id;
  }
  return {};
}

// What the reply may call: nothing, if the client wants no call or this is no conversation.
std::span<const chat::Tool> Generation::callable_tools() const {
  const auto* conversation = std::get_if<chat::ChatRequest>(&request_.input);
  if (conversation == nullptr || request_.tool_choice.kind == ToolChoice::Kind::kNone) return {};
  return conversation->tools;
}

Sequence Generation::make_sequence(const chat::ReplyStart& start) const {
  const text::Tokenizer& tokenizer = service_.engine().tokenizer();
  const auto is_shown = [&](std::string_view marker) {
    const std::vector<TokenId> encoded = tokenizer.encode(marker, {});
    return encoded.size() == 1 && tokenizer.is_control(encoded[0]) && !tokenizer.ends_generation(encoded[0]);
  };
  std::vector<std::string_view> controls;
  std::ranges::copy_if(chat::list_markers(start), std::back_inserter(controls), is_shown);
  const std::vector<std::string_view> headers = chat::list_header_markers(start);
  return {engine::TokenStream(tokenizer, request_.stop, {controls.begin(), controls.end()},
                              {headers.begin(), headers.end()}),
          chat::ReplyParser(start, callable_tools(), controls)};
}

void Generation::receive(size_t index, engine::Event event) {
  if (events_.put(index, std::move(event)))
    response_->post([self = shared_from_this()] { self->take_events(); });
}

void Generation::take_events() {
  for (auto& [index, event] : events_.take()) {
    if (over_) return;
    std::visit([&, at = index](auto& kind) { handle(at, std::move(kind)); }, event);
  }
}

void Generation::handle(size_t index, const engine::TokenChosen& event) {
  Sequence& sequence = sequences_[index];
  if (sequence.stopped) return;
  ++sequence.tokens;
  if (request_.sampling.top_logprobs >= 0) sequence.reports.add(service_.engine().tokenizer(), event.choice);
  const engine::TokenStream::Piece piece = sequence.stream.push(event.choice.token);
  sequence.stopped = piece.stopped;
  if (piece.stopped) service_.engine().cancel(sequence.id);
  const bool thought = sequence.parser.thinking();
  emit(index, piece, std::nullopt);
  if (thought || sequence.parser.thinking()) ++sequence.reasoning_tokens;  // tags are part of it
}

void Generation::handle(size_t index, engine::Finished event) {
  Sequence& sequence = sequences_[index];
  const bool cut = sequence.stopped;
  if (event.reason == engine::FinishReason::kError)
    return fail({event.error.code, std::move(event.error.message)});
  if (event.reason == engine::FinishReason::kCancelled && !cut)
    return fail({ErrorCode::kCancelled, "the request was cancelled because the server is shutting down"});
  const engine::TokenStream::Piece piece = sequence.stream.finish();
  sequence.stopped = piece.stopped;
  sequence.usage = event.usage;
  // How far the engine got before it heard of the cancel is chance; the tokens up to the stop are not.
  if (cut) sequence.usage.completion_tokens = sequence.tokens;
  StopReason reason = StopReason::kStopString;
  if (!piece.stopped)
    reason = event.reason == engine::FinishReason::kLength && !cut ? StopReason::kLength : StopReason::kEnd;
  emit(index, piece, reason);
  if (++finished_ == sequences_.size()) finish();
}

void Generation::emit(size_t index, const engine::TokenStream::Piece& piece,
                      std::optional<StopReason> finish) {
  Sequence& sequence = sequences_[index];
  std::vector<chat::ReplyPiece> pieces = parse(sequence, piece, finish);
  count_calls(sequence, pieces);
  const bool cut = piece.stopped || sequence.only_call;
  std::ranges::move(finish ? sequence.reports.release_rest(piece.text.size(), cut)
                           : sequence.reports.release(piece.text.size()),
                    std::back_inserter(sequence.held_reports));
  send(index, std::move(pieces), finish);
}

std::vector<chat::ReplyPiece> Generation::parse(Sequence& sequence, const engine::TokenStream::Piece& piece,
                                                std::optional<StopReason> finish) {
  std::vector<chat::ReplyPiece> pieces;
  const auto append = [&](std::vector<chat::ReplyPiece> more) {
    std::ranges::move(more, std::back_inserter(pieces));
  };
  if (!sequence.only_call) {
    append(sequence.parser.push(piece.text));
    if (!piece.control.empty()) append(sequence.parser.push_control(piece.control));
    if (finish) append(sequence.parser.finish(*finish != StopReason::kEnd));
  }
  if (finish) note_faults(sequence.parser.faults());
  return pieces;
}

// Behind the first call of a reply that may hold one nothing counts any more.
void Generation::count_calls(Sequence& sequence, std::vector<chat::ReplyPiece>& pieces) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    auto& calls = pieces[i].calls;
    for (size_t j = 0; j < calls.size(); ++j) {
      if (!calls[j].finished) continue;
      ++sequence.calls;
      if (request_.parallel_tool_calls) continue;
      calls.resize(j + 1);
      pieces.resize(i + 1);
      sequence.only_call = sequence.stopped = true;
      service_.engine().cancel(sequence.id);
      return;
    }
  }
}

// Log-probabilities go out with the last text; tokens that have become a call have none.
void Generation::send(size_t index, std::vector<chat::ReplyPiece> pieces, std::optional<StopReason> finish) {
  Sequence& sequence = sequences_[index];
  std::vector<ChatDelta> deltas(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    deltas[i].reasoning = std::move(pieces[i].reasoning);
    deltas[i].text = std::move(pieces[i].text);
    deltas[i].calls = std::move(pieces[i].calls);
  }
  const auto says = [](const ChatDelta& delta) { return !delta.text.empty() || !delta.reasoning.empty(); };
  const auto last_text = std::find_if(deltas.rbegin(), deltas.rend(), says);
  if (last_text != deltas.rend())
    last_text->tokens = std::exchange(sequence.held_reports, {});
  else if (!deltas.empty())
    sequence.held_reports.clear();
  const bool may_become_a_call = !finish && !callable_tools().empty();
  if (finish || (!sequence.held_reports.empty() && !may_become_a_call)) {
    if (deltas.empty()) deltas.emplace_back();
    std::ranges::move(std::exchange(sequence.held_reports, {}), std::back_inserter(deltas.back().tokens));
  }
  if (finish) {
    const bool calls = sequence.calls > 0 && *finish != StopReason::kLength;
    deltas.back().finish = calls ? StopReason::kCalls : *finish;
    deltas.back().stop_string = sequence.stream.matched();
  }
  for (ChatDelta& delta : deltas) {
    delta.choice = static_cast<int>(index);
    reply_->add(std::move(delta));
  }
}

void Generation::note_faults(const chat::CallFaults& faults) {
  service_.count_call_faults(faults);
  std::string kinds;
  for (size_t i = 0; i < faults.size(); ++i)
    if (faults[i] > 0)
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", faults[i], chat::kCallFaultNames[i]);
  if (!kinds.empty()) spdlog::info("calls that a reply got wrong are part of its text: {}", kinds);
}

void Generation::finish() {
  over_ = true;
  const ReplyUsage total = usage();
  note_usage(total);
  reply_->finish(total);
}

void Generation::fail(const ApiError& error) {
  over_ = true;
  cancel();
  response_->note("error", error.message);
  reply_->fail(error);
}

void Generation::cancel() {
  for (const Sequence& sequence : sequences_) service_.engine().cancel(sequence.id);
}

// A prompt that has several replies counts once.
ReplyUsage Generation::usage() const {
  ReplyUsage total;
  for (size_t i = 0; i < sequences_.size(); ++i) {
    const Sequence& sequence = sequences_[i];
    total.completion_tokens += std::max(sequence.usage.completion_tokens, sequence.tokens);
    total.reasoning_tokens += sequence.reasoning_tokens;
    total.prompt_time = std::max(total.prompt_time, sequence.usage.prompt_time);
    total.generation_time = std::max(total.generation_time, sequence.usage.generation_time);
    if (i % static_cast<size_t>(request_.choices) == 0) total.cached_tokens += sequence.usage.cached_tokens;
  }
  for (const int tokens : prompt_tokens_) total.prompt_tokens += tokens;
  return total;
}

void Generation::note_usage(const ReplyUsage& usage) {
  response_->note("prompt_tokens", std::to_string(usage.prompt_tokens));
  response_->note("cached_tokens", std::to_string(usage.cached_tokens));
  response_->note("completion_tokens", std::to_string(usage.completion_tokens));
}

}  // namespace

void start_generation(Service& service, ApiRequest request, std::unique_ptr<ReplyWriter> reply,
                      std::shared_ptr<ResponseWriter> response) {
  std::make_shared<Generation>(service, std::move(request), std::move(reply), std::move(response))->start();
}

}  // namespace tempo9::server
