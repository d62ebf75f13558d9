// What tests expect of replies. Each is read whole, byte by byte, and cut in two at every byte.
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/testing/replies.h"

namespace tempo9::chat::testing {

inline std::string hear(Listener& listener, std::string_view reply) {
  const Heard whole = listener.hear(reply, cut_every(std::string::npos));
  EXPECT_EQ(whole.problem(), "") << reply;
  for (size_t at = 1; at < reply.size(); ++at) {
    const Heard cut = listener.hear(reply, cut_once(at));
    EXPECT_EQ(cut.problem(), "") << reply << " cut at " << at;
    EXPECT_EQ(cut.show(), whole.show()) << reply << " cut at " << at;
  }
  EXPECT_EQ(listener.hear(reply, cut_every(1)).show(), whole.show()) << reply;
  return whole.show();
}

struct Case {
  std::string_view reply, expected;
};

inline void expect_all(const Listener& listener, std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    Listener fresh = listener;
    EXPECT_EQ(hear(fresh, c.reply), c.expected) << c.reply;
  }
}

// Replies that are text as they stand, and what is counted.
inline void expect_text(const Listener& listener, CallFault fault,
                        std::initializer_list<std::string_view> replies) {
  for (const std::string_view reply : replies) {
    Listener fresh = listener;
    EXPECT_EQ(hear(fresh, reply), "T[" + std::string(reply) + "]");
    CallFaults expected{};
    expected[static_cast<size_t>(fault)] = 1;
    EXPECT_EQ(fresh.faults, expected) << reply;
  }
}

inline Listener listener_for(std::string_view style, std::vector<std::string_view> controls = {}) {
  Listener listener{.start = {.style = style_named(style)}};
  listener.controls = std::move(controls);
  return listener;
}

}  // namespace tempo9::chat::testing
