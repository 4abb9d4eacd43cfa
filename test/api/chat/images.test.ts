/** Images in a user's message, from the request to the model and back to a reader: whole turns, and what the model was given. */
import { randomUUID } from 'node:crypto';
import * as ai7 from 'ai';
import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import { createInterlude } from '@interlude-ai/client/ai-sdk/index.ts';
import { createOpenAI } from '../../clients/openai-client.ts';
import { createChatClient } from '../../clients/chat-client.ts';
import { dataUrl, gif, otherPng, pdf, png, svg, webp } from '../../images.ts';
import { onTheWire, text, useImageService } from '../../service/image-service.ts';
import { workflowOf } from '../../service/workflow-of.ts';

let logged = '';
const logger = pino({ level: 'trace' }, { write: (line: string) => void (logged += line) });
const limits = {
  BODY_LIMIT: '20000',
  IMAGES_PER_MESSAGE: '2',
  IMAGE_MAX_BYTES: '20000',
  IMAGES_MAX_BYTES_PER_MESSAGE: '30000',
  IMAGES_MAX_BYTES_PER_CONVERSATION: '40000',
};
const setup = useImageService({ env: limits, logger });
const { given } = setup;

const file = (url: string, mediaType = 'image/png') => ({ type: 'file', mediaType, url });
const inWords = (words: string | RegExp) => text(expect.stringMatching(words) as string);

function post(parts: object[], more: object = {}, before: object[] = []) {
  const messages = [...before, { id: 'm1', role: 'user', parts }];
  return setup.alice.request('POST', '/run/api/chat', { messages, stream: false, ...more });
}

async function read(conversation: string) {
  const { body } = await setup.alice.request('GET', `/run/v1/conversations/${conversation}`);
  return (body['messages'] as { items: { parts: object[] }[] }).items;
}

test('useChat sends a file as it is, the model is given it, and whoever reads again sees it in its place', async () => {
  const conversation = randomUUID();
  const token = await setup.service.token('alice');
  const chat = createChatClient(7, { baseUrl: setup.service.baseUrl, token, conversation });
  await chat.sendFile('What is this?', { mediaType: 'image/png', url: dataUrl(png) });
  expect([chat.error, chat.parts().at(-1)]).toEqual([undefined, expect.objectContaining({ text: 'Seen.' })]);
  // As the SDK writes it: files first.
  expect(given()).toEqual([{ role: 'user', content: [onTheWire(png), text('What is this?')] }]);
  const [said] = await read(conversation);
  expect(said?.parts).toEqual([file(dataUrl(png)), text('What is this?')]);

  // The SDK sends all of it again.
  await chat.send('And what was it?');
  expect(given().map(({ content }) => content)).toEqual([
    [onTheWire(png), text('What is this?')],
    'Seen.',
    'And what was it?',
  ]);

  const ref = { tenant: 'demo', conversation };
  const workflow = setup.temporal.client.workflow.getHandle(
    await workflowOf(setup.service.storage, conversation),
  );
  const history = readable(await workflow.fetchHistory());
  expect(history).toContain(conversation);
  const messages = JSON.stringify(await setup.service.storage.messages.list(ref));
  for (const kept of [history, messages, logged]) expect(kept).not.toContain(png.slice(8, 40));
});

test('an image alone is a message; its type is that of its bytes, whatever it is said to be', async () => {
  expect(await post([file(dataUrl(webp, 'image/png'))], { id: randomUUID() })).toMatchObject({ status: 200 });
  expect(given()).toEqual([{ role: 'user', content: [onTheWire(webp, 'image/webp')] }]);
});

test('a new conversation brings the images of its history along', async () => {
  const before = [
    { role: 'user', parts: [text('Look.'), file(dataUrl(gif, 'image/gif')), file('https://x.example/a')] },
    { role: 'assistant', parts: [text('I see.'), file(dataUrl(png))] },
  ];
  expect(await post([text('What was it?')], {}, before)).toMatchObject({ status: 200 });
  expect(given().map(({ content }) => content)).toEqual([
    [text('Look.'), onTheWire(gif, 'image/gif')],
    'I see.',
    'What was it?',
  ]);
});

test('the newest images are shown, as many as there is room for, and older ones told of, to model and reader', async () => {
  const id = randomUUID();
  const images = ['a', 'b', 'c'].map((name) => otherPng(name, 19_000));
  for (const [index, image] of images.entries()) {
    const message = { id: `m${index}`, role: 'user', parts: [text(`${index}`), file(dataUrl(image))] };
    const body = { id, messages: [message], stream: false };
    expect(await setup.alice.request('POST', '/run/api/chat', body)).toMatchObject({ status: 200 });
  }
  const [a, b, c] = images as [string, string, string];
  expect(a).not.toBe(b);
  expect(
    given()
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content),
  ).toEqual([
    [text('0'), inWords(/^\[an image: image\/png, 19 kB, which is not shown to you here\]$/)],
    [text('1'), onTheWire(b)],
    [text('2'), onTheWire(c)],
  ]);
  const parts = (await read(id)).map((message) => message.parts);
  expect([parts[0], parts[2]]).toEqual([
    [text('0'), text('[an image: image/png, 19 kB]')],
    [text('1'), file(dataUrl(b))],
  ]);
});

test('a delegated agent is given its task and no image', async () => {
  const seen = setup.model.requests.length;
  expect(await post([text('ask the other'), file(dataUrl(png))], { id: randomUUID() })).toMatchObject({
    status: 200,
  });
  const [first, delegated] = setup.model.requests.slice(seen).map(({ body }) => JSON.stringify(body));
  expect(first).toContain(png);
  expect(delegated).not.toContain('image');
});

describe('what a message says', () => {
  test('is the same with the same image, and another with another', async () => {
    const id = randomUUID();
    const first = await post([text('Hm?'), file(dataUrl(png))], { id });
    const again = await post([text('Hm?'), file(dataUrl(png))], { id });
    expect(again.body['turnId']).toBe(first.body['turnId']);
    for (const other of [[file(dataUrl(gif))], []])
      expect(await post([text('Hm?'), ...other], { id })).toMatchObject({
        status: 422,
        body: { code: 'message_id_reused' },
      });
  });
});

describe('refused, with nothing changed:', () => {
  const large = dataUrl(otherPng('', 20_000));
  test.each<[what: string, part: object, detail: RegExp]>([
    ['an address', file('https://images.example/cat.png'), /fetches nothing from addresses/],
    ['an address of a file', file('file:///etc/passwd'), /fetches nothing/],
    ['no address', { type: 'file', mediaType: 'image/png' }, /as a data: URL/],
    ['a data: URL that is no base64', file('data:image/png,abc'), /in base64/],
    ['base64 that is cut off', file(dataUrl(png.slice(0, -3))), /a part of it is missing/],
    ['SVG', file(dataUrl(svg, 'image/svg+xml'), 'image/svg+xml'), /send PNG, JPEG, GIF or WebP/],
    ['SVG that says it is a PNG', file(dataUrl(svg)), /send PNG/],
    ['a PDF', file(dataUrl(pdf, 'application/pdf'), 'application/pdf'), /send PNG/],
    ['one that is too large', file(large), /at most 20000 bytes/],
  ])('%s', async (_what, part, detail) => {
    const id = randomUUID();
    const calls = setup.model.requests.length;
    expect(await post([text('See?'), part], { id })).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        errors: [{ pointer: '/messages/0/parts/1', detail: expect.stringMatching(detail) as string }],
      },
    });
    expect(await setup.alice.request('GET', `/run/v1/conversations/${id}`)).toMatchObject({ status: 404 });
    expect(setup.model.requests).toHaveLength(calls);
  });

  test('too many, and a body over what has room for all of a conversation', async () => {
    const three = [png, gif, webp].map((image) => file(dataUrl(image)));
    expect(await post([text('See?'), ...three])).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/messages/0/parts/3', detail: 'a message has at most 2 images' }] },
    });
    const limit = 20_000 + Math.ceil(40_000 / 3) * 4;
    expect(await post([text('x'.repeat(limit))])).toMatchObject({
      status: 413,
      body: { detail: `The body may have at most ${limit} bytes.` },
    });
    // Other routes have no room for images.
    const answer = { conversationId: 'c', elicitationId: 'e', action: 'accept', x: 'x'.repeat(20_000) };
    expect(await setup.alice.request('POST', '/run/api/elicitation-responses', answer)).toMatchObject({
      status: 413,
    });
  });

  test('any, by an agent that takes none', async () => {
    const id = randomUUID();
    const parts = [text('See?'), file(dataUrl(png))];
    expect(await post(parts, { id, agentId: 'reader' })).toMatchObject({
      status: 422,
      body: {
        code: 'images_not_taken',
        detail: expect.stringMatching(/^This agent takes no images\./) as string,
        errors: [{ pointer: '/messages/0/parts/1' }],
      },
    });
    expect(await setup.alice.request('GET', `/run/v1/conversations/${id}`)).toMatchObject({ status: 404 });
    // The id of the message is not used up.
    expect(await post(parts, { id })).toMatchObject({ status: 200 });
  });
});

describe('OpenAI clients', () => {
  const image = (url: string) => ({ type: 'image_url' as const, image_url: { url } });
  const ask = async (model: string, parts: (ReturnType<typeof image> | { type: 'text'; text: string })[]) => {
    const client = await createOpenAI(setup.service, 'alice');
    const earlier = [{ role: 'user' as const, content: [image(dataUrl(gif, 'image/gif'))] }];
    return client.chat.completions.create({
      model,
      messages: [...earlier, { role: 'user', content: parts }],
    });
  };
  const said = { type: 'text' as const, text: 'And this?' };

  test('send images in their own form, those of earlier messages again', async () => {
    const answer = await ask('viewer', [said, image(dataUrl(png))]);
    expect(answer.choices[0]?.message.content).toBe('Seen.');
    expect(given()).toEqual([
      { role: 'user', content: [onTheWire(gif, 'image/gif')] },
      { role: 'user', content: [text('And this?'), onTheWire(png)] },
    ]);
  });

  test.each([
    ['viewer', image('https://x.example/cat.png'), { status: 400, code: 'invalid_request', at: 1 }],
    ['viewer', image(dataUrl(svg)), { status: 400, code: 'invalid_request', at: 1 }],
    ['reader', image(dataUrl(png)), { status: 422, code: 'images_not_taken', at: 0 }],
  ])('read in their own form what is refused: %s', async (model, part, { status, code, at }) => {
    const param = `messages[${at}].content[${at}]`;
    await expect(ask(model, [said, part])).rejects.toMatchObject({ status, code, param });
  });

  test('find in the list of models which agents take them', async () => {
    const { data } = await (await createOpenAI(setup.service, 'alice')).models.list();
    expect(data.filter((one) => 'images' in one)).toMatchObject([{ id: 'viewer', images: true }]);
  });
});

test.each([
  ['v4', ai7],
  ['v3', ai6 as unknown as typeof ai7],
  ['v2', ai5 as unknown as typeof ai7],
] as const)('the AI SDK hands images of a prompt on to our provider, version %s', async (version, sdk) => {
  const options = { baseURL: setup.service.baseUrl, token: await setup.service.token('alice') };
  // The newest types for all: what this test uses of them has had one shape.
  const interlude = createInterlude({ ...options, specificationVersion: version as 'v4' });
  const bytes = Buffer.from(png, 'base64');
  const answer = await sdk.generateText({
    model: interlude('viewer'),
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image', image: bytes },
        ],
      },
      { role: 'assistant', content: 'Hm.' },
      { role: 'user', content: [{ type: 'file', data: bytes, mediaType: 'image/png' }] },
    ],
  });
  expect(answer.text).toBe('Seen.');
  expect(given().map(({ content }) => content)).toEqual([
    [text('What?'), onTheWire(png)],
    'Hm.',
    [onTheWire(png)],
  ]);
});

test('the client sends images beside the words', async () => {
  const client = createClient({ baseUrl: setup.service.baseUrl, token: await setup.service.token('alice') });
  const views = client.start({ message: { text: 'What?', images: [dataUrl(png), dataUrl(gif)] } });
  for await (const { status } of views) expect(['running', 'completed']).toContain(status);
  expect(given()).toEqual([
    { role: 'user', content: [text('What?'), onTheWire(png), onTheWire(gif, 'image/gif')] },
  ]);
});

function readable(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return value === null || typeof value !== 'object'
    ? String(value)
    : Object.values(value).map(readable).join('\n');
}
