// OpenAI's official client: text, streaming, errors, models, responses, embeddings.
import assert from "node:assert/strict";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.TEMPO9_URL + "/v1", apiKey: "none", maxRetries: 0 });
const question = "What is the capital of Spain?";
const answer = "The capital of Spain is Madrid.";
const chat = { model: "tempo9", messages: [{ role: "user", content: question }], temperature: 0, max_tokens: 64 };
const greedy = { model: "tempo9", input: question, temperature: 0, max_output_tokens: 64 };

const reply = await client.chat.completions.create(chat);
assert.equal(reply.choices[0].message.content, answer);
assert.equal(reply.choices[0].finish_reason, "stop");
assert.equal(reply.usage.total_tokens, reply.usage.prompt_tokens + reply.usage.completion_tokens);

let text = "";
for await (const chunk of await client.chat.completions.create({ ...chat, stream: true }))
  text += chunk.choices[0]?.delta.content ?? "";
assert.equal(text, answer);
const helper = client.chat.completions.stream({ ...chat, stream_options: { include_usage: true } });
const final = await helper.finalChatCompletion();
assert.equal(final.choices[0].message.content, answer);
assert.deepEqual(final.usage.completion_tokens, reply.usage.completion_tokens);

const whole = await client.responses.create(greedy);
assert.equal(whole.output_text, answer);
const stream = client.responses.stream({ ...greedy, reasoning: { effort: "high" } });
const types = [];
for await (const event of stream) types.push(event.type);
assert.equal(types[0], "response.created");
assert.equal(types.at(-1), "response.completed");
const thoughtful = await stream.finalResponse();
assert.deepEqual(thoughtful.output.map((item) => item.type), ["reasoning", "message"]);
assert.equal(thoughtful.output[1].content[0].text, answer);
const next = await client.responses.create({ ...greedy, input: "Hello", previous_response_id: whole.id });
assert.equal(next.status, "completed");

// Tools: the client's own helper runs them and asks again until there is an answer.
const weather = {
  name: "get_weather",
  description: "Get the current weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "City name" } },
    required: ["city"],
  },
};
const asked = [];
const run = {
  ...weather,
  parse: JSON.parse,
  function: ({ city }) => {
    asked.push(city);
    return JSON.stringify({ temperature: 21, condition: "sunny" });
  },
};
const ask = { ...chat, messages: [{ role: "user", content: "What is the weather in Paris?" }] };
for (const stream of [false, true]) {
  const runner = client.chat.completions.runTools({ ...ask, stream, tools: [{ type: "function", function: run }] });
  assert.equal(await runner.finalContent(), "The temperature is 21 and condition is sunny.");
}
assert.deepEqual(asked, ["Paris", "Paris"]);

const tools = [{ type: "function", strict: false, ...weather }];
const called = client.responses.stream({ ...greedy, input: "What is the weather in Paris?", tools });
const pieces = [];
for await (const event of called)
  if (event.type === "response.function_call_arguments.delta") pieces.push(event.delta);
const call = (await called.finalResponse()).output[0];
assert.equal(call.type, "function_call");
assert.deepEqual(JSON.parse(call.arguments), { city: "Paris" });
assert.equal(pieces.join(""), call.arguments);

const models = await client.models.list();
assert.equal(models.data.length, 1);
assert.equal((await client.models.retrieve(models.data[0].id)).id, models.data[0].id);

const vectors = await client.embeddings.create({ model: "tempo9", input: ["one", "two"] });
assert.equal(vectors.data.length, 2);
const length = Math.hypot(...vectors.data[0].embedding);
assert.ok(Math.abs(length - 1) < 1e-5, `a vector of length ${length}`);

await assert.rejects(client.chat.completions.create({ ...chat, temperature: -1 }), (error) => {
  assert.equal(error.status, 400);
  assert.equal(error.param, "temperature");
  return error instanceof OpenAI.BadRequestError;
});
await assert.rejects(client.responses.create({ ...greedy, input: "word ".repeat(70000), stream: true }), (error) => {
  assert.equal(error.code, "context_length_exceeded");
  return true;
});
await assert.rejects(client.models.retrieve("something-else"), OpenAI.NotFoundError);
