#include "engine/trial.h"

namespace tempo9::engine {

// Written for this purpose. Its figures in tests/data/known_models.json hold for exactly these bytes.
std::string_view prose() {
  return "The sun was going down when the old man closed the door of his shop and walked home "
         "along the river. He had worked there for more than forty years, and everybody in the "
         "town knew him. Children came to him with broken toys, and he repaired them without "
         "asking for money. Their parents brought clocks, radios and bicycles, and he repaired "
         "those too, although it took him longer every year because his eyes were no longer as "
         "good as they had been.\n\n"
         "That evening a young woman was waiting in front of his house. She held a small wooden "
         "box in her hands. \"My grandmother gave me this before she died,\" she said. \"It used to "
         "play music, but it has not made a sound since I was a little girl. People tell me that "
         "you can repair anything.\" The old man smiled and asked her to come in. He put the box on "
         "the kitchen table, opened the lid and looked at it for a long time. Then he took a thin "
         "screwdriver out of his pocket and began to work.\n\n"
         "After an hour he had found what was wrong. One of the wheels was worn out, and a spring "
         "was missing. \"I do not have a spring like this,\" he said, \"but I know how to make one. "
         "Come back tomorrow at the same time.\" The next day the woman came back, and he handed "
         "her the box. When she opened the lid, the room was filled with a song that she had not "
         "heard for twenty years. She began to cry, and then she laughed. \"How much do I owe you?\" "
         "she asked. \"Nothing,\" said the old man. \"But when you listen to it, please think of all "
         "the things that people throw away because nobody takes the time to look at them.\"\n";
}

}  // namespace tempo9::engine
