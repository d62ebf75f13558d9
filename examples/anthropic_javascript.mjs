// Anthropic's client: a message as a stream.
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: process.env.TEMPO9_URL ?? "http://127.0.0.1:11435", apiKey: "none" });
const messages = [{ role: "user", content: "What is the capital of France?" }];

const stream = client.messages.stream({ model: "tempo9", max_tokens: 64, messages });
stream.on("text", (text) => process.stdout.write(text));
const message = await stream.finalMessage();
console.log(`\n${message.usage.output_tokens} tokens`);
