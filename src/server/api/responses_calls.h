// How calls stand in the output of a response: one item each, of a type that depends on what the client
// declared.
#pragma once
#include <string>

#include "server/api/client_calls.h"
#include "server/api/json_parse.h"

namespace tempo9::server {

struct CallForm {
  const char* type;       // of the item
  const char* id_prefix;  // of the item's own id
  const char* member;     // holds the arguments or the input
  // Events of a member that grows. Null: it comes as an object, whole.
  const char* delta;
  const char* done;
};

const CallForm& form_of(const ClientCall& call);

// As it begins: what the member holds is still empty.
Json call_item(const ClientCall& call, const std::string& item_id, const std::string& call_id);

}  // namespace tempo9::server
