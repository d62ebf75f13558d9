// A tool call of a reply while it comes. Plain values.
#pragma once
#include <string>

namespace tempo9::chat {

// One piece of one call. The pieces of all calls of a reply come in the calls' order: a call's last piece
// stands before the next one's first.
//
// A call whose text turns out to be no call after its first piece is out (it is malformed, or the reply ends
// in it) is withdrawn: its last piece says so, and its whole text as the model wrote it is part of the
// reply's text from then on. The pieces of a withdrawn call, joined, are never valid JSON, so nobody can
// execute it.
struct CallDelta {
  int index = 0;           // of the call in its reply, from 0; a withdrawn call keeps its own
  std::string name;        // in the first piece only: the tool's name as the model sees it
  std::string arguments;   // goes on where the last piece ended; joined, the text of a JSON object
  bool finished = false;   // the last piece of a call that is complete
  bool withdrawn = false;  // the last piece of one that is not
};

}  // namespace tempo9::chat
