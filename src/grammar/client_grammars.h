// The grammars that clients write themselves, within a form's tag.
#pragma once
#include <string>

#include "base/result.h"

namespace tempo9::grammar {

// `tag` with each of them checked on its own, so that errors name whose it is, and those that describe the
// inside of a JSON string (Form::in_json) written as such. In the caller's thread, for as long as it takes.
Result<std::string> read_client_grammars(const std::string& tag);

}  // namespace tempo9::grammar
