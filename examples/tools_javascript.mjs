// Tool calls with Anthropic's client: the model asks for the weather, this program looks it up, the model answers.
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: process.env.TEMPO9_URL ?? "http://127.0.0.1:11435", apiKey: "none" });
const getWeather = ({ city }) => ({ city, temperature: 21, condition: "sunny" });

const schema = {
  type: "object",
  properties: { city: { type: "string", description: "City name" } },
  required: ["city"],
};
const tools = [{ name: "get_weather", description: "Get the current weather", input_schema: schema }];
const messages = [{ role: "user", content: "What is the weather in Paris?" }];

for (;;) {
  const stream = client.messages.stream({ model: "tempo9", max_tokens: 256, temperature: 0, messages, tools });
  stream.on("text", (text) => process.stdout.write(text));
  const reply = await stream.finalMessage();
  messages.push({ role: "assistant", content: reply.content });
  if (reply.stop_reason !== "tool_use") break;
  const results = [];
  for (const call of reply.content.filter((block) => block.type === "tool_use")) {
    console.log(`${call.name}(${JSON.stringify(call.input)})`);
    results.push({ type: "tool_result", tool_use_id: call.id, content: JSON.stringify(getWeather(call.input)) });
  }
  messages.push({ role: "user", content: results });
}
console.log();
