import { Validator } from '@seriousme/openapi-schema-validator';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { problems } from '../../../src/api/http/problems.ts';
import { startApi } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';
import { createCheck, operationsOf, readDocument, resolve, routesOf } from '../contract-document.ts';
import type { Check, Document, Operation, Schema } from '../contract-document.ts';

/** For browsers: hosted pages, what they post to, and what login and OAuth send browsers to. */
const pages = [
  'GET /auth/answer',
  'GET /auth/callback/{issuer}',
  'GET /auth/client/{document}',
  'GET /auth/connect',
  'GET /auth/done',
  'GET /',
  'GET /auth/login',
  'GET /auth/login/callback',
  'GET /connections',
  'GET /connections/connect',
  'GET /connections/disconnect',
  'GET /connections/history',
  'GET /connections/key',
  'GET /connections/waiting',
  'GET /widget.js',
  'GET /widget.licenses.txt',
  'GET /operators',
  'GET /operators/questions',
  'GET /operators/questions/{elicitation}/expire',
  'GET /operators/turns/{turn}',
  'GET /operators/turns/{turn}/cancel',
  'POST /operators/questions/{elicitation}/expire',
  'POST /operators/turns/{turn}/cancel',
  'POST /operators/turns/{turn}/contents',
  'POST /auth/answer',
  'POST /auth/connect',
  'POST /auth/logout',
  'POST /connections',
  'POST /connections/approvals',
  // In the words of another protocol.
  'DELETE /run/v1/mcp',
  'GET /run/v1/mcp',
  'POST /run/v1/mcp',
  'PUT /run/v1/mcp',
  'PATCH /run/v1/mcp',
  'POST /run/agents/{agent}/a2a',
  'POST /run/agents/{agent}/a2a/',
  'GET /run/agents/{agent}/a2a/extendedAgentCard',
  'POST /run/agents/{agent}/a2a/message{send}',
  'POST /run/agents/{agent}/a2a/message{stream}',
  'GET /run/agents/{agent}/a2a/tasks',
  'GET /run/agents/{agent}/a2a/tasks*',
  'POST /run/agents/{agent}/a2a/tasks*',
  'DELETE /run/agents/{agent}/a2a/tasks*',
  'GET /.well-known/jwks.json',
  'GET /.well-known/agent-card.json',
  'GET /run/agents/{agent}/.well-known/agent-card.json',
  'GET /run/agents/{agent}/a2a/.well-known/agent-card.json',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/run/v1/mcp',
];
const forAnybody = ['getContract', 'getHealth', 'getReadiness', 'completeElicitation'];

const headersOf: Record<string, string[]> = {
  401: ['www-authenticate'],
  429: ['retry-after'],
  503: ['retry-after'],
};

let api: ApiUnderTest;
let document: Document;
let operations: Operation[];
let check: Check;
beforeAll(async () => {
  api = await startApi();
  document = await readDocument(api.app);
  operations = operationsOf(document);
  check = createCheck(document);
});
afterAll(() => api.stop());

/** Every schema of the document. */
function schemasIn(value: unknown, at = ''): [at: string, schema: Schema][] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, member]) => schemasIn(member, `${at}/${key}`));
  return 'type' in value || 'anyOf' in value || '$ref' in value ? [[at, value as Schema], ...inner] : inner;
}

function typeOf(id: string, status: string): string {
  if (status === '204' || ((id.startsWith('follow') || id === 'runAgent') && status === '200')) return '';
  if (id === 'exportConversation' && status === '200') return 'application/x-ndjson';
  return Number(status) < 400 || id === 'getReadiness' ? 'application/json' : 'application/problem+json';
}

describe('the contract', () => {
  test('is an OpenAPI 3.1 document', async () => {
    expect(document.openapi).toBe('3.1.0');
    const result = await new Validator().validate(structuredClone(document) as never);
    expect(result).toEqual({ valid: true });
  });

  test('is read without a token, and always the same', async () => {
    const responses = await Promise.all(['/openapi.json', '/openapi.json'].map((url) => api.app.inject(url)));
    const [first, second] = responses.map(({ statusCode, headers, body }) => ({
      statusCode,
      type: headers['content-type'],
      body,
    }));
    expect(first).toMatchObject({ statusCode: 200, type: expect.stringMatching(/^application\/json/) });
    expect(second).toEqual(first);
  });

  test('has the version of the package', () => expect(document.info.version).toBe(packageJson.version));

  test('leaves no route out but the pages', () => {
    const routes = routesOf(api.app);
    expect(routes.length).toBeGreaterThan(15);
    const described = operations.map(({ method, path }) => `${method} ${path}`);
    expect([...described, ...pages].toSorted()).toEqual(routes.toSorted());
  });

  test('gives every operation a name of its own', () => {
    const ids = operations.map(({ id }) => id);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('wants a token for everything but itself and the probes', () => {
    expect(operations.filter(({ isPublic }) => isPublic).map(({ id }) => id)).toEqual(forAnybody);
    expect(document).toMatchObject({ security: [{ bearer: [] }, { bearer: [], actingForUser: [] }] });
    const others = operations.filter(({ isPublic }) => !isPublic);
    expect(others.filter(({ described, responses }) => described.security || !responses['401'])).toEqual([]);
  });

  test('says of every parameter what it means, with an example that fits', () => {
    const parameters = operations.flatMap((operation) => operation.parameters);
    expect(parameters.length).toBeGreaterThan(10);
    for (const { name, description, example, schema } of parameters) {
      expect(description, name).toBeTruthy();
      expect(check(schema, example), name).toEqual([]);
    }
  });

  test('says of every member of a body what it means', () => {
    const bodies = operations.flatMap(({ id, body }) => (body ? [[id, body.schema] as const] : []));
    const members = bodies.flatMap(([id, schema]) =>
      schemasIn(schema, id).flatMap(([at, { properties = {} }]) =>
        Object.entries(properties).map(([name, { description }]) => ({ at: `${at}/${name}`, description })),
      ),
    );
    expect(members.length).toBeGreaterThan(20);
    expect(members.filter(({ description }) => !description)).toEqual([]);
  });

  test('has examples of every body, all of which fit', () => {
    const bodies = operations.flatMap(({ body }) => body ?? []);
    expect(bodies.length).toBeGreaterThan(2);
    for (const { schema, examples } of bodies) {
      expect(examples).not.toEqual([]);
      for (const example of examples) expect(check(schema, example)).toEqual([]);
    }
  });

  test('has no other example that does not fit, either', () => {
    const examples = schemasIn(document).flatMap(([at, schema]) =>
      (schema.examples ?? []).map((example) => ({ at, schema, example })),
    );
    expect(examples.length).toBeGreaterThan(5);
    for (const { at, schema, example } of examples) expect(check(schema, example), at).toEqual([]);
  });

  test('says what a status means, and what comes with it', () => {
    for (const { id, responses } of operations) {
      for (const [status, { description, content, headers }] of Object.entries(responses)) {
        const at = `${id} ${status}`;
        expect(description, at).not.toMatch(/^$|default/i);
        const types = Object.keys(content ?? {}).filter((type) => type !== 'text/event-stream');
        expect(types.join(), at).toBe(typeOf(id, status));
        const isProblem = types.includes('application/problem+json');
        const wanted = description.includes('turn_in_progress')
          ? ['x-turn-id']
          : (isProblem && headersOf[status]) || [];
        expect(Object.keys(headers ?? {}), at).toEqual(expect.arrayContaining(wanted));
      }
    }
  });

  test('names the headers that say which turn it is', () => {
    for (const id of ['chat', 'followLiveTurn', 'createChatCompletion']) {
      const responses = operations.find((operation) => operation.id === id)?.responses;
      expect(Object.keys(responses?.['200']?.headers ?? {}), id).toEqual(['x-turn-id', 'x-conversation-id']);
    }
  });

  test('says of every stream what its events carry', () => {
    const streams = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) => content?.['text/event-stream'] ?? []),
    );
    expect(streams.length).toBeGreaterThan(3);
    for (const { schema } of streams)
      expect(resolve(document, schema['x-event-data'] as Schema)).toBeTruthy();
  });

  test('lets answers have more members one day', () => {
    const namesIn = (schema: unknown) =>
      schemasIn(schema).flatMap(([, { $ref }]) => $ref?.split('/').at(-1) ?? []);
    const bodies = operations.flatMap(({ described }) => namesIn(described.requestBody));
    const requests = bodies.flatMap((name) => [name, ...namesIn(document.components.schemas[name])]);
    const answers = Object.entries(document.components.schemas).filter(([name]) => !requests.includes(name));
    expect(answers.length).toBeGreaterThan(10);
    const spoken = [Object.fromEntries(answers), ...operations.map(({ responses }) => responses)];
    const closed = schemasIn(spoken).filter(([, schema]) => schema.additionalProperties === false);
    expect(closed).toEqual([]);
  });

  test('has each schema once, and none that nobody refers to', () => {
    const names = Object.keys(document.components.schemas);
    const referred = new Set(schemasIn(document).flatMap(([, { $ref }]) => $ref?.split('/').at(-1) ?? []));
    expect(names.toSorted()).toEqual([...referred].toSorted());
    expect(names.filter((name) => name.endsWith('Input'))).toEqual([]);
    const texts = Object.values(document.components.schemas).map((schema) => JSON.stringify(schema));
    expect(new Set(texts).size).toBe(names.length);
  });
});

describe('docs/http.md', () => {
  const page = readFile(new URL('../../../docs/http.md', import.meta.url), 'utf8');
  const rowsAfter = (text: string, heading: string) =>
    (text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('|').map((cell) => cell.trim()));

  test('has every error code with its status and title, as they are', async () => {
    const rows = rowsAfter(await page, 'Errors').map(([, code, status, title]) => [code, status, title]);
    expect(rows).toEqual(
      Object.entries(problems).map(([code, { status, title }]) => [`\`${code}\``, `${status}`, title]),
    );
  });

  test('has every route of the contract', async () => {
    const rows = rowsAfter(await page, 'Routes').map(([, route]) => route?.replaceAll('`', ''));
    expect(rows.toSorted()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).toSorted());
  });
});
