import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { generateText } from 'ai';
import type { ModelMessage } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createModels, keyVariable } from '../../src/models/provider.ts';
import { dataUrl, png } from '../images.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { OpenAIServer } from '../servers/openai-server.ts';

let folder: string;
let server: OpenAIServer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'interlude-'));
  server = await createOpenAIServer({
    reply: () => ({
      kind: 'status',
      status: 404,
      body: { type: 'error', error: { type: 'not_found', message: 'nope' } },
    }),
  });
  const define = pathToFileURL(path.resolve('src/models/scripted/script.ts')).href;
  await writeFile(
    path.join(folder, 'script.mjs'),
    `import { defineScript } from '${define}';\nexport const script = defineScript([() => ({ say: 'hi' })], { wordDelayMs: 0 });\n`,
  );
  await writeFile(path.join(folder, 'empty.mjs'), 'export const nothing = 1;\n');
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const secret = (name: string) => ({ OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', MY_KEY: 'm' })[name];

test('the script of the agents file speaks, and is loaded once', async () => {
  const models = createModels({
    providers: { scripted: { script: './script.mjs' } },
    configDir: folder,
    secret,
  });
  const model = await models('scripted');
  expect((await generateText({ model, prompt: 'hello' })).text).toBe('hi');
  expect(await models('scripted')).toBe(model);
});

test.each([
  ['./missing.mjs', /missing\.mjs cannot be loaded/],
  ['./empty.mjs', /empty\.mjs lacks "export const script/],
])('a script that cannot be used is named: %s', async (script, words) => {
  const models = createModels({ providers: { scripted: { script } }, configDir: folder, secret });
  await expect(models('scripted')).rejects.toThrow(words);
});

test.each([
  ['openai:gpt-x', '/v1/responses', { authorization: 'Bearer o' }],
  ['anthropic:claude-x', '/v1/messages', { 'x-api-key': 'a' }],
  ['openai-compatible:org/model:7b', '/v1/chat/completions', { authorization: 'Bearer m', 'x-team': 'blue' }],
])('%s speaks its own protocol with its own key to its own address', async (spec, route, headers) => {
  const { baseURL } = server;
  const models = createModels({
    providers: {
      openai: { apiKeyEnv: 'OPENAI_API_KEY', baseURL },
      anthropic: { apiKeyEnv: 'ANTHROPIC_API_KEY', baseURL },
      'openai-compatible': { apiKeyEnv: 'MY_KEY', baseURL, headers: { 'x-team': 'blue' } },
    },
    configDir: folder,
    secret,
  });
  await expect(generateText({ model: await models(spec), prompt: 'hi', maxRetries: 0 })).rejects.toThrow(
    'nope',
  );
  const request = server.requests.at(-1);
  expect(request?.path).toBe(route);
  expect(request?.headers).toMatchObject(headers);
  expect(request?.body.model).toBe(spec.slice(spec.indexOf(':') + 1));
});

test.each([
  ['@ai-sdk/google:gemini-x', '/v1/models/gemini-x:generateContent', { 'x-goog-api-key': 'm' }, {}],
  ['@ai-sdk/azure:gpt-x', '/v1/responses', { 'api-key': 'm' }, {}],
  [
    '@ai-sdk/amazon-bedrock:anthropic.claude-x',
    '/v1/model/anthropic.claude-x/converse',
    { authorization: 'Bearer m' },
    { region: 'eu-central-1' },
  ],
  ['@openrouter/ai-sdk-provider:meta/llama-x', '/v1/chat/completions', { authorization: 'Bearer m' }, {}],
  ['ollama-ai-provider-v2:llama-x', '/v1/chat', { 'x-team': 'blue' }, { headers: { 'x-team': 'blue' } }],
])('%s is the package of that name, with its key and settings', async (spec, route, headers, settings) => {
  const [name = ''] = spec.split(':');
  const models = createModels({
    providers: { packages: { [name]: { apiKeyEnv: 'MY_KEY', baseURL: server.baseURL, settings } } },
    configDir: import.meta.dirname,
    secret,
  });
  const model = await models(spec);
  await expect(generateText({ model, prompt: 'hi', maxRetries: 0 })).rejects.toThrow(
    /nope|Not Found|not_found/,
  );
  const request = server.requests.at(-1);
  expect(request?.path).toBe(route);
  expect(request?.headers).toMatchObject(headers);
});

test.each([
  [
    '@ai-sdk/lost:x',
    {},
    /^The package @ai-sdk\/lost is not installed: run npm install @ai-sdk\/lost in .*models\.$/,
  ],
  ['@ai-sdk/provider:x', {}, /^The package @ai-sdk\/provider exports no function create…; is it a provider/],
  ['@ai-sdk/google:x', { factory: 'createSearch' }, /exports no function createSearch \(providers\.packages/],
])('%s is refused with the remedy', async (spec, more, words) => {
  const [name = ''] = spec.split(':');
  const packages = { [name]: { settings: {}, ...more } };
  const models = createModels({ providers: { packages }, configDir: import.meta.dirname, secret });
  await expect(models(spec)).rejects.toThrow(words);
});

const image = { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data: png } };

test.each([
  ['openai:x', { type: 'input_image', image_url: dataUrl(png) }],
  ['anthropic:x', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }],
  ['openai-compatible:x', { type: 'image_url', image_url: { url: dataUrl(png) } }],
])("%s is sent an image of a user's message in its own form", async (spec, sent) => {
  const { baseURL } = server;
  const models = createModels({
    providers: {
      openai: { apiKeyEnv: 'OPENAI_API_KEY', baseURL },
      anthropic: { apiKeyEnv: 'ANTHROPIC_API_KEY', baseURL },
      'openai-compatible': { baseURL, headers: {} },
    },
    configDir: folder,
    secret,
  });
  const messages: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'What?' }, image] }];
  await expect(generateText({ model: await models(spec), messages, maxRetries: 0 })).rejects.toThrow('nope');
  const body = server.requests.at(-1)?.body as SentBody | undefined;
  expect((body?.input ?? body?.messages)?.[0]?.content).toMatchObject([
    expect.objectContaining({ text: 'What?' }),
    sent,
  ]);
});

/** OpenAI's newer protocol has another name for the messages. */
type SentBody = { messages: { content: unknown }[]; input?: { content: unknown }[] };

test('a picture in the result of a tool is not sent to where only text is known', async () => {
  const { baseURL } = server;
  const models = createModels({
    providers: { 'openai-compatible': { baseURL, headers: {} } },
    configDir: folder,
    secret,
  });
  const picture = {
    type: 'file' as const,
    mediaType: 'image/png',
    data: { type: 'data' as const, data: 'aW1n' },
  };
  const called = { toolCallId: 'c1', toolName: 'draw' };
  const value = [{ type: 'text' as const, text: 'Here it is.' }, picture];
  const messages: ModelMessage[] = [
    { role: 'user', content: 'draw' },
    { role: 'assistant', content: [{ type: 'tool-call', ...called, input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', ...called, output: { type: 'content', value } }] },
  ];
  const model = await models('openai-compatible:x');
  await expect(generateText({ model, messages, maxRetries: 0 })).rejects.toThrow('nope');
  expect(server.requests.at(-1)?.body.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: "Here it is.\n[image/png: not shown to this model; the user's client has it]",
  });
});

test.each([
  ['openai:x', 'OPENAI_API_KEY'],
  ['anthropic:x', 'ANTHROPIC_API_KEY'],
])('a missing key is named: %s', async (spec, variable) => {
  const models = createModels({ providers: {}, configDir: folder, secret: () => undefined });
  await expect(models(spec)).rejects.toThrow(`set ${variable}`);
});

test('a provider nobody knows is refused with the ones there are', async () => {
  const models = createModels({ providers: {}, configDir: folder, secret });
  await expect(models('oracle:delphi')).rejects.toThrow(/no model provider "oracle"; write scripted, openai/);
});

test('models without a key of their own have no key variable', () => {
  expect(keyVariable('scripted', {})).toBeNull();
  expect(keyVariable('openai-compatible:x', {})).toBeNull();
  expect(keyVariable('openai:x', { openai: { apiKeyEnv: 'OTHER' } })).toBe('OTHER');
});
