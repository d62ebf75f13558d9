#include "engine/request_state.h"

#include <algorithm>

namespace tempo9::engine {

RequestState::RequestState(RequestId number, Request r, std::shared_ptr<EventSink> s, int most_tokens)
    : id(number),
      sink(std::move(s)),
      sampler(std::move(r.sampling), r.prompt),
      tokens(std::move(r.prompt)),
      prompt_tokens(known()),
      limit(r.max_new_tokens == 0 ? most_tokens
                                  : static_cast<int>(std::min<int64_t>(
                                        most_tokens, int64_t{prompt_tokens} + r.max_new_tokens))),
      submitted(std::chrono::steady_clock::now()) {
  usage.prompt_tokens = prompt_tokens;
  for (const int boundary : r.boundaries) add_save_point(boundary);
}

void RequestState::add_save_point(int position) {
  if (position <= computed || position >= prompt_tokens) return;
  const auto place = std::lower_bound(save_points.begin(), save_points.end(), position);
  if (place == save_points.end() || *place != position) save_points.insert(place, position);
}

}  // namespace tempo9::engine
