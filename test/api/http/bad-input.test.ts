/**
 * Everything that the contract says is checked, sent wrongly: each place of each body, each parameter, one at a time.
 * The requests are good but for that, and about nobody and nothing that is there, so that none of them may do anything.
 */
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, beginTurn, formRequest, startApi } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';
import { badBodies, badTexts, placesOf } from '../bad-values.ts';
import { createCheck, operationsOf, readDocument } from '../contract-document.ts';
import type { Check, Document, Operation, Parameter } from '../contract-document.ts';

/** What is let in on purpose although programs often stumble over it: by operation, place and why. */
const letIn: { operations: string[]; places: string[]; because: string }[] = [
  {
    operations: ['chat'],
    places: [
      '/unknownMember',
      '/messages/*/unknownMember',
      '/messages/*/parts/*/unknownMember',
      '/messages/*/parts/*/data/unknownMember',
    ],
    because: 'released clients send members of their own',
  },
  {
    operations: ['createChatCompletion'],
    places: [
      '/unknownMember',
      '/messages/*/unknownMember',
      '/messages/*/content/*/unknownMember',
      '/stream_options',
      '/stream_options/unknownMember',
      '/response_format/unknownMember',
    ],
    because: 'OpenAI clients send parameters that mean nothing here',
  },
  {
    operations: ['runAgent'],
    places: [
      '/unknownMember',
      '/messages/*/unknownMember',
      '/messages/*/content/*/unknownMember',
      '/resume/*/unknownMember',
      '/context/*/unknownMember',
      '/tools/*/unknownMember',
    ],
    because: 'AG-UI clients send members that mean nothing here',
  },
  {
    operations: ['runAgent'],
    places: [
      '/protocolVersion',
      '/messages/*/id',
      '/messages/*/role',
      '/messages/*/content/*/type',
      '/forwardedProps',
    ],
    because: 'it is only compared with what is known here, or ignored',
  },
  {
    operations: ['runAgent'],
    places: [
      '/messages/*/content',
      '/messages/*/content/*/text',
      '/context/*/description',
      '/context/*/value',
      '/tools/*/description',
      '/tools/*/parameters',
      '/tools/*/parameters/unknownMember',
      '/resume/*/payload',
      '/resume/*/payload/unknownMember',
      '/resume/*/payload/project',
    ],
    because:
      'people and pages may say anything, and the question says what an answer may contain; the agent, which is not there, says what tools it takes',
  },
  {
    operations: ['chat', 'createChatCompletion'],
    places: ['/messages/*/parts/*/text', '/messages/*/content', '/messages/*/content/*/text'],
    because: 'people may say anything, and earlier messages may say nothing',
  },
  {
    operations: ['chat'],
    places: ['/messages/*/parts/*/data/text'],
    because: 'a page may show anything, and nothing',
  },
  {
    operations: ['chat'],
    places: ['/messages/*/parts/*/type'],
    because: 'parts of a type that nobody knows are for the client itself',
  },
  {
    operations: ['chat', 'createChatCompletion', 'readModel', 'runAgent', 'readAgentCapabilities'],
    places: ['/agentId', '/model', '/agent'],
    because: 'it is only compared with the names of the agents',
  },
  {
    operations: ['answerElicitation'],
    places: [
      '/content',
      '/content/unknownMember',
      '/content/project',
      '/responses/*/content',
      '/responses/*/content/unknownMember',
      '/responses/*/content/project',
    ],
    because:
      'what a form may contain, the question says; there is none here. A form that there is refuses it, below',
  },
  {
    operations: ['answerElicitation'],
    places: ['/reason', '/responses/*/reason'],
    because: 'people may say anything, and nothing',
  },
  {
    operations: ['createChatCompletion'],
    places: ['/x-stainless-retry-count'],
    because: 'what is no number above 0 means that the request is new',
  },
  {
    operations: ['chat', 'createChatCompletion', 'answerElicitation'],
    places: ['/idempotency-key'],
    because: 'any name that fits into a header is a name',
  },
  {
    operations: [
      'followLiveTurn',
      'cancelTurn',
      'readConversation',
      'exportConversation',
      'deleteConversation',
      'followConversation',
      'listElicitations',
    ],
    places: ['/conversation'],
    because: 'twenty digits are an id like any other',
  },
  {
    operations: ['withdrawApproval'],
    places: ['/approval'],
    because: 'twenty digits are an id like any other',
  },
  {
    operations: ['readTimeline', 'readContents', 'cancelTurnOfUser', 'expireQuestion'],
    places: ['/turn', '/elicitation'],
    because: 'twenty digits are an id like any other',
  },
  {
    operations: ['searchTurns', 'searchQuestions'],
    places: ['/user', '/service', '/agent', '/server'],
    because: 'it is only compared with names',
  },
];

const requestedSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 20 },
    email: { type: 'string', format: 'email' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    isUrgent: { type: 'boolean' },
    size: { type: 'string', enum: ['small', 'large'] },
  },
  required: ['name', 'email', 'count', 'isUrgent', 'size'],
};
const content = { name: 'Website', email: 'a@example.com', count: 1, isUrgent: true, size: 'small' };

let api: ApiUnderTest;
let document: Document;
let operations: Operation[];
let check: Check;
let before: Record<string, unknown[]>;
let formId: string;
beforeAll(async () => {
  api = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '1000000' } });
  document = await readDocument(api.app);
  // The page of a tool signs whatever bytes it sends, and has no token: `tool-pages` has tests of its own.
  operations = operationsOf(document).filter(({ id }) => id !== 'completeElicitation');
  check = createCheck(document);
  await ask(api.storage, await beginTurn(api.storage, 'of-alice'));
  const form = { request: formRequest(requestedSchema), server: null, seenVersion: null };
  formId = await ask(api.storage, await beginTurn(api.storage, 'with-a-form'), form);
  before = everything();
});
afterAll(() => api.stop());

/** The whole database. Who was refused is on record, and when a key was used, and nothing else. */
function everything(): Record<string, unknown[]> {
  const { database: configured } = api.config;
  if (configured.kind !== 'sqlite') throw new Error('the test reads the embedded database');
  using database = new DatabaseSync(configured.path, { readOnly: true });
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' and name not in ('audit', 'api_keys')")
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => [String(name), database.prepare(`select * from "${String(name)}"`).all()]),
  );
}

/** An example, made to be about something that is not there. */
function harmless({ id }: Operation, example: unknown): unknown {
  if (id === 'chat') return { ...(example as object), agentId: 'nobody' };
  if (id === 'createChatCompletion') return { ...(example as object), model: 'nobody' };
  return example;
}

interface Sent {
  path?: Record<string, string>;
  query?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | Readable | undefined;
}

async function send(
  operation: Operation,
  { path: given = {}, query, headers, body }: Sent,
  who: Who | null = 'alice',
): Promise<LightMyRequestResponse> {
  const { id, method, path, parameters } = operation;
  const example = (name: string) =>
    // A run begins nothing either, then.
    id === 'runAgent' && name === 'agent'
      ? 'nobody'
      : String(parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.example);
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(given[name] ?? example(name)),
  );
  const request: InjectOptions = {
    method,
    url: query === undefined ? url : `${url}?${query}`,
    headers: { ...(operation.body && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { payload: body }),
  };
  const response = await (who === null ? api.app.inject(request) : api.send(who, request));
  expect(deviationsOf(operation, response), `${id} ${response.statusCode}`).toEqual([]);
  return response;
}

/** Where an answer is not what the contract says of it. */
function deviationsOf(
  { responses }: Operation,
  { statusCode, headers, body }: LightMyRequestResponse,
): string[] {
  const described = responses[statusCode];
  if (!described || statusCode === 500) return [`answered ${statusCode}: ${body.slice(0, 300)}`];
  if (statusCode < 400) return [];
  const type = String(headers['content-type']).split(';')[0] ?? '';
  const media = described.content?.[type];
  return media ? check(media.schema, JSON.parse(body)) : [`answered with ${type}`];
}

const operationNamed = (id: string) => operations.find((operation) => operation.id === id)!;
const goodBody = (operation: Operation) => JSON.stringify(harmless(operation, operation.body?.examples[0]));

/** 400 that names the place, or something in it. */
function pointsAt(response: LightMyRequestResponse, pointer: string): boolean {
  if (response.statusCode !== 400) return false;
  const { errors = [] } = response.json<{ errors?: { pointer: string }[] }>();
  return errors.some((error) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`));
}

/** Where something was let in. */
const needed = new Set<string>();

/** What is wrong with the answer to something bad; empty when it is refused, or let in on purpose. */
function complaint(
  { id }: Operation,
  bad: { place: string; pointer: string; what: string; isForbidden: boolean },
  response: LightMyRequestResponse,
): string[] {
  const { place, pointer, what, isForbidden } = bad;
  if (pointsAt(response, pointer)) return [];
  // Allowed by itself, and not where it is: a list of parts without any words.
  if (!isForbidden && response.statusCode === 400) return [];
  const isLetIn = letIn.some(({ operations: ids, places }) => ids.includes(id) && places.includes(place));
  needed.add(`${id} ${place}`);
  if (!isForbidden && isLetIn) return [];
  return [`${id} ${place}: ${what.slice(0, 40)} → ${response.statusCode} ${response.body.slice(0, 80)}`];
}

describe('something that is not as the contract has it is a 400 that points at it:', () => {
  test('in a body', async () => {
    const complaints: string[] = [];
    let count = 0;
    for (const operation of operations) {
      if (!operation.body) continue;
      const { schema, examples } = operation.body;
      const visited = new Set<string>();
      for (const example of examples) {
        const good = harmless(operation, example);
        const answered = await send(operation, { body: JSON.stringify(good) });
        // Of a list of answers, each gets a status of its own.
        const { items } = answered.json<{ items?: { httpStatus: number }[] }>();
        const statuses = items?.map(({ httpStatus }) => httpStatus) ?? [answered.statusCode];
        expect([operation.id, new Set(statuses)]).toEqual([operation.id, new Set([404])]);
        for (const bad of badBodies(document, check, schema, good)) {
          visited.add(bad.place);
          count++;
          complaints.push(...complaint(operation, bad, await send(operation, { body: bad.text })));
        }
      }
      expect(placesOf(document, schema).filter((place) => !visited.has(place))).toEqual([]);
    }
    expect(complaints).toEqual([]);
    expect(count).toBeGreaterThan(500);
  }, 120_000);

  test('in a parameter', async () => {
    const complaints: string[] = [];
    let count = 0;
    for (const operation of operations) {
      for (const parameter of operation.parameters) {
        const { in: where, name } = parameter;
        for (const { text, isForbidden } of badTexts(check, parameter)) {
          const bad = { place: `/${name}`, pointer: `/${name}`, what: JSON.stringify(text), isForbidden };
          count++;
          complaints.push(
            ...complaint(operation, bad, await send(operation, asParameter(parameter, text, operation))),
          );
        }
        if (where !== 'query') continue;
        const twice = await send(operation, { query: `${name}=1&${name}=2` });
        expect([operation.id, name, pointsAt(twice, `/${name}`)]).toEqual([operation.id, name, true]);
      }
    }
    expect(complaints).toEqual([]);
    expect(count).toBeGreaterThan(200);
  });

  function asParameter({ in: where, name }: Parameter, text: string, operation: Operation): Sent {
    const body = operation.body ? goodBody(operation) : undefined;
    switch (where) {
      case 'path':
        return { path: { [name]: text }, body };
      case 'query':
        return { query: new URLSearchParams({ [name]: text }).toString(), body };
      case 'header':
        return { headers: { [name]: text }, body };
    }
  }

  test('and every exception from that is still needed', () => {
    const unused = letIn.flatMap(({ operations: ids, places }) => [
      ...ids.filter((id) => !places.some((place) => needed.has(`${id} ${place}`))),
      ...places.filter((place) => !ids.some((id) => needed.has(`${id} ${place}`))),
    ]);
    expect(unused).toEqual([]);
  });
});

describe('a form that is filled in wrongly is a 422 that points at the field:', () => {
  interface Refused {
    statusCode: number;
    errors: { pointer: string }[];
  }

  /** What becomes of an answer that is sent alone, and of one in a list. */
  const ways: [string, (answer: string) => string, (response: LightMyRequestResponse) => Refused][] = [
    [
      'alone',
      (answer) => `{"conversationId":"with-a-form",${answer}}`,
      (response) => ({ statusCode: response.statusCode, errors: response.json().errors ?? [] }),
    ],
    [
      'in a list',
      (answer) => `{"conversationId":"with-a-form","responses":[{${answer}}]}`,
      (response) => {
        const [item] = response.json().items ?? [];
        return { statusCode: item?.httpStatus, errors: item?.problem.errors ?? [] };
      },
    ],
  ];

  test.each(ways)('everything that the form asks for, %s', async (_, bodyOf, read) => {
    const answer = operationNamed('answerElicitation');
    const complaints: string[] = [];
    let count = 0;
    for (const bad of badBodies(document, check, requestedSchema, content)) {
      if (!bad.isForbidden || bad.pointer === '') continue;
      const body = bodyOf(`"elicitationId":"${formId}","action":"accept","content":${bad.text}`);
      const { statusCode, errors } = read(await send(answer, { body }));
      const pointers = errors.map(({ pointer }) => pointer);
      count++;
      if (statusCode !== 422 || !pointers.includes(`/content${bad.pointer}`))
        complaints.push(`${bad.pointer} ${bad.what} → ${statusCode} ${pointers.join()}`);
    }
    expect(complaints).toEqual([]);
    expect(count).toBeGreaterThan(50);
  });
});

describe('whatever the route,', () => {
  const withBody = () => operations.filter(({ method }) => method === 'POST');
  const needToken = () => operations.filter(({ isPublic }) => !isPublic);
  const answerOf = (response: LightMyRequestResponse) => [response.statusCode, response.json().code];
  const sendGood = (operation: Operation, sent: Sent, who?: Who | null) =>
    send(operation, { ...(operation.body && { body: goodBody(operation) }), ...sent }, who);

  test('without a token, or with one that is none, it is a 401 that says how to get in', async () => {
    for (const operation of needToken()) {
      for (const authorization of [
        undefined,
        'Bearer',
        'Bearer x',
        'Basic YWxpY2U6',
        `Bearer ${'x'.repeat(9_000)}`,
      ]) {
        const headers = authorization === undefined ? {} : { authorization };
        const response = await sendGood(operation, { headers }, null);
        expect([operation.id, ...answerOf(response)]).toEqual([operation.id, 401, 'unauthenticated']);
        expect(response.headers['www-authenticate']).toMatch(/^Bearer/);
      }
    }
  });

  test('the contract and the probes need none', async () => {
    for (const operation of operations.filter(({ isPublic }) => isPublic))
      expect((await send(operation, {}, null)).statusCode).not.toBe(401);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'multipart/form-data',
    'nonsense',
  ])('a body that is %s is a 415', async (type) => {
    for (const operation of withBody()) {
      const response = await send(operation, { headers: { 'content-type': type }, body: 'a=b' });
      expect([operation.id, ...answerOf(response)]).toEqual([operation.id, 415, 'unsupported_media_type']);
    }
  });

  test.each([
    ['cut off', '{"id": "c'],
    ['no JSON', 'hello'],
    ['nothing', ''],
    ['two values', '{}{}'],
    ['a name that changes how objects work', '{"__proto__": {"id": "c1"}}'],
    ['the same, deep inside', '{"messages": [{"constructor": {"prototype": {}}}]}'],
    ['a number that is none', '{"id": NaN}'],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ])('a body that is %s is a 400', async (_, body) => {
    for (const operation of withBody()) {
      const response = await send(operation, { headers: { 'content-type': 'application/json' }, body });
      expect([operation.id, ...answerOf(response)]).toEqual([operation.id, 400, 'invalid_request']);
    }
  });

  test.each([
    ['that is said to be', (text: string) => text],
    ['that turns out to be', (text: string) => Readable.from([text.slice(0, 9), text.slice(9)])],
  ])('a body %s over the limit is a 413', async (_, toPayload) => {
    for (const operation of withBody()) {
      const body = toPayload(JSON.stringify({ text: 'x'.repeat(api.config.http.bodyLimit) }));
      const response = await send(operation, { headers: { 'content-type': 'application/json' }, body });
      expect([operation.id, ...answerOf(response)]).toEqual([operation.id, 413, 'body_too_large']);
    }
  });

  test('a body of nothing but mistakes is answered in a few words', async () => {
    for (const operation of operations.filter(({ body }) => body)) {
      const body = JSON.stringify({
        ...(JSON.parse(goodBody(operation)) as object),
        messages: Array(100_000).fill(0),
      });
      const response = await send(operation, { body });
      expect([operation.id, response.statusCode, response.body.length < 10_000]).toEqual([
        operation.id,
        400,
        true,
      ]);
    }
  });

  /** Where an unknown conversation may begin. */
  const begins = ['chat', 'createChatCompletion'];
  /** `useChat` asks on every mount, also for a conversation that only exists in the browser so far. */
  const isIdle = ['followLiveTurn'];

  function aboutConversation(operation: Operation, conversation: string): Sent | null {
    const { parameters, body } = operation;
    if (parameters.some(({ in: where, name }) => where === 'path' && name === 'conversation'))
      return { path: { conversation } };
    const member = ['conversationId', 'id'].find((name) => name in (body?.schema.properties ?? {}));
    if (member === undefined) return null;
    const example = body?.examples[0] as object;
    return { body: JSON.stringify({ ...example, [member]: conversation }) };
  }

  test('an unknown conversation is a 404', async () => {
    const asked: string[] = [];
    for (const operation of operations) {
      const sent = aboutConversation(operation, 'of-nobody');
      if (!sent || begins.includes(operation.id)) continue;
      const expectedStatus = isIdle.includes(operation.id) ? 204 : 404;
      expect([operation.id, (await send(operation, sent)).statusCode]).toEqual([
        operation.id,
        expectedStatus,
      ]);
      asked.push(operation.id);
    }
    expect(asked.length).toBeGreaterThan(4);
    expect(asked).toEqual(expect.arrayContaining(isIdle));
  });

  test.each(['bob', 'service', 'stranger'] as const)("alice's conversation is a 404 for %s", async (who) => {
    for (const operation of operations) {
      const sent = aboutConversation(operation, 'of-alice');
      // In another tenant it is another conversation.
      if (!sent || (who === 'stranger' && [...begins, ...isIdle].includes(operation.id))) continue;
      const response = await send(operation, sent, who);
      expect([operation.id, response.statusCode]).toEqual([operation.id, 404]);
      expect(response.json().code).toMatch(/^(conversation|elicitation)_not_found$/);
    }
  });

  test('an unknown agent is a 404 that names those there are', async () => {
    const asked: string[] = [];
    for (const operation of operations) {
      if (!operation.responses['404']?.description.includes('unknown_agent')) continue;
      const response = await sendGood(operation, { path: { model: 'nobody', agent: 'nobody' } });
      expect([operation.id, ...answerOf(response)]).toEqual([operation.id, 404, 'unknown_agent']);
      expect(response.json().detail).toContain('assistant');
      asked.push(operation.id);
    }
    expect(asked).toEqual(expect.arrayContaining(['chat', 'createChatCompletion', 'readModel', 'runAgent']));
  });
});

describe('nothing of this left a trace:', () => {
  test('no conversation, no turn, no answer, no key', () => {
    expect(Object.keys(before).length).toBeGreaterThan(8);
    expect(everything()).toEqual(before);
  });
});
