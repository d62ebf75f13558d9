// Anthropic's official client: text, thinking, streaming, errors, models, counting.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: process.env.TEMPO9_URL, apiKey: "none", maxRetries: 0 });
const answer = "The capital of Spain is Madrid.";
const messages = [{ role: "user", content: "What is the capital of Spain?" }];
const greedy = { model: "claude-tempo9", messages, temperature: 0, max_tokens: 64 };
const thinking = { thinking: { type: "adaptive" } };

const reply = await client.messages.create(greedy);
assert.deepEqual(reply.content, [{ type: "text", text: answer }]);
assert.equal(reply.stop_reason, "end_turn");

for (const more of [{}, thinking, { stop_sequences: [" Spain"] }, { max_tokens: 3 }]) {
  const whole = await client.messages.create({ ...greedy, ...more });
  const streamed = await client.messages.stream({ ...greedy, ...more }).finalMessage();
  assert.deepEqual(streamed.content, whole.content);
  assert.equal(streamed.stop_reason, whole.stop_reason);
  assert.equal(streamed.stop_sequence, whole.stop_sequence);
  assert.equal(streamed.usage.output_tokens, whole.usage.output_tokens);
}
const thoughtful = await client.messages.create({ ...greedy, ...thinking });
assert.equal(thoughtful.content[0].thinking, "I can answer this directly.");

const types = [];
for await (const event of await client.messages.create({ ...greedy, stream: true })) types.push(event.type);
assert.equal(types[0], "message_start");
assert.equal(types.at(-1), "message_stop");

// Tools, and the answer from a result.
const schema = {
  type: "object",
  properties: { city: { type: "string", description: "City name" } },
  required: ["city"],
};
const tools = [{ name: "get_weather", description: "Get the current weather", input_schema: schema }];
const question = [{ role: "user", content: "What is the weather in Paris?" }];
const called = await client.messages.create({ ...greedy, messages: question, tools });
const streamed = await client.messages.stream({ ...greedy, messages: question, tools }).finalMessage();
for (const message of [called, streamed]) {
  assert.equal(message.stop_reason, "tool_use");
  const [call, ...others] = message.content;
  assert.equal(others.length, 0);
  assert.deepEqual([call.type, call.name, call.input], ["tool_use", "get_weather", { city: "Paris" }]);
  const result = { type: "tool_result", tool_use_id: call.id, content: '{"temperature": 21, "condition": "sunny"}' };
  const next = [...question, { role: "assistant", content: message.content }, { role: "user", content: [result] }];
  const told = await client.messages.create({ ...greedy, messages: next, tools });
  assert.equal(told.content[0].text, "The temperature is 21 and condition is sunny.");
}

const counted = await client.messages.countTokens({ model: "m", messages });
assert.equal(counted.input_tokens, reply.usage.input_tokens + reply.usage.cache_read_input_tokens);

const listed = [];
for await (const model of client.models.list({ limit: 1000 })) listed.push(model);
assert.equal(listed.length, 1);
await assert.rejects(client.models.retrieve("something-else"), Anthropic.NotFoundError);

await assert.rejects(client.messages.create({ ...greedy, temperature: "hot" }), (error) => {
  assert.equal(error.status, 400);
  assert.equal(error.error.error.type, "invalid_request_error");
  assert.match(error.error.error.message, /^temperature: /);
  assert.ok(error.requestID.startsWith("req_"));
  return true;
});
await assert.rejects(
  client.messages.create({ ...greedy, messages: [{ role: "user", content: "word ".repeat(70000) }], stream: true }),
  /prompt is too long: \d+ tokens > \d+ maximum/,
);
