// OpenAI's client: a chat and a response as streams.
import OpenAI from "openai";

const url = process.env.TEMPO9_URL ?? "http://127.0.0.1:11435";
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
const question = "What is the capital of France?";

const messages = [{ role: "user", content: question }];
const chunks = await client.chat.completions.create({ model: "tempo9", messages, max_tokens: 64, stream: true });
for await (const chunk of chunks) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
console.log();

const events = await client.responses.create({ model: "tempo9", input: question, max_output_tokens: 64, stream: true });
for await (const event of events) if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
console.log();
