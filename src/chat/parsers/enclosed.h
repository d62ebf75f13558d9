// Calls that stand between two marks, each by itself: the frame that several styles share.
#pragma once
#include <string_view>

#include "chat/parsers/context.h"

namespace tempo9::chat {

struct Enclosure {
  std::string_view open, close;
  std::string_view body;                         // how what is between them begins
  Reading<bool> (*read)(ReplyContext& context);  // that; false if it is no call
};

// A whole reply. Where a body has begun and is no call, all up to the closing mark is text: what stands in a
// broken call is not taken for a call of its own.
Reading<bool> read_enclosed_calls(ReplyContext& context, Enclosure enclosure);

}  // namespace tempo9::chat
