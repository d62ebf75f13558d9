// Pictures in requests: only such as the request itself carries. Nothing is fetched from anywhere.
#pragma once
#include <string_view>

#include "chat/chat_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// Adds the encoded picture at `path`. No model sees pictures yet, which is reported as a gap.
void add_image(chat::Message& message, std::string_view base64, const FieldPath& path, Faults& faults);

// The same for `data:image/png;base64,…`.
void add_image_url(chat::Message& message, std::string_view url, const FieldPath& path, Faults& faults);

}  // namespace tempo9::server
