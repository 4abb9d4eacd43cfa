/** Every route of the contract, called as its own examples say, against the whole service. */
import { randomUUID } from 'node:crypto';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { beforeAll, describe, expect, test } from 'vitest';
import { lacking } from '../../e2e/processes.ts';
import { createCheck, operationsOf, resolve } from '../contract-document.ts';
import type { Check, Document, Operation, Schema } from '../contract-document.ts';
import { useService } from '../../service/use-service.ts';

interface Call {
  path: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: unknown;
}

/** Which of an operation's examples is to be called; 0 for one that has a single way to be called. */
type Prepare = (call: Call, example: number) => Promise<void>;

let document: Document;
let check: Check;
const { service, alice } = useService({
  env: { AUTH_OPERATOR_CLAIM: 'sub', AUTH_OPERATOR_ROLE: 'alice', AUTH_CONTENTS_ROLE: 'alice' },
});
beforeAll(async () => {
  const response = await fetch(`${service.baseUrl}/openapi.json`);
  document = (await response.json()) as Document;
  check = createCheck(document);
});

/** A turn that waits for alice, in a conversation of its own. */
async function waitingTurn(): Promise<{ conversation: string; elicitationId: string }> {
  const conversation = randomUUID();
  const stream = await alice.chat('list my open issues', { conversation });
  const { elicitationId } = await stream.question('pending');
  stream.close();
  return { conversation, elicitationId };
}

async function turnOfWaiting(): Promise<string> {
  const { elicitationId } = await waitingTurn();
  return (await service.storage.elicitations.get(elicitationId))?.turnId ?? '';
}

/** Puts in place what has to exist before a route can be called, and says so in the call. */
const preparations: Record<string, Prepare> = {
  async chat(call, example) {
    if (example !== 2) return;
    const { conversation, elicitationId } = await waitingTurn();
    const text = JSON.stringify({ ...(call.body as object), id: conversation });
    call.body = JSON.parse(text, (key, value: unknown) => (key === 'elicitationId' ? elicitationId : value));
  },
  async createChatCompletion(call, example) {
    if (example !== 1) return;
    const { conversation } = await waitingTurn();
    call.body = { ...(call.body as object), conversationId: conversation };
  },
  async runAgent(call, example) {
    if (example !== 1) return;
    const { conversation, elicitationId } = await waitingTurn();
    const resume = [{ interruptId: elicitationId, status: 'cancelled' }];
    call.body = { ...(call.body as object), threadId: conversation, resume };
  },
  async followLiveTurn(call) {
    call.path = { conversation: (await waitingTurn()).conversation };
  },
  async cancelTurn(call) {
    call.path = { conversation: (await waitingTurn()).conversation };
  },
  async readConversation(call) {
    call.path = { conversation: (await waitingTurn()).conversation };
  },
  async exportConversation(call) {
    call.path = { conversation: (await waitingTurn()).conversation };
  },
  async deleteConversation(call) {
    const conversation = randomUUID();
    await (await alice.chat('hello', { conversation })).finished();
    call.path = { conversation };
  },
  async followConversation(call) {
    call.path = { conversation: (await waitingTurn()).conversation };
    call.headers['last-event-id'] = '0';
  },
  async listElicitations(call) {
    call.path = { conversation: (await waitingTurn()).conversation };
  },
  async withdrawApproval(call) {
    const id = randomUUID();
    const whose = { id, tenant: 'demo', user: 'alice', conversation: null };
    const tool = { server: 'tracker', place: 'tracker.example', tool: 'delete_issue', definition: '' };
    await service.storage.approvals.remember({ ...whose, ...tool });
    call.path = { approval: id };
  },
  async readTimeline(call) {
    call.path = { turn: await turnOfWaiting() };
  },
  async readContents(call) {
    call.path = { turn: await turnOfWaiting() };
  },
  async cancelTurnOfUser(call) {
    call.path = { turn: await turnOfWaiting() };
  },
  async expireQuestion(call) {
    call.path = { elicitation: (await waitingTurn()).elicitationId };
  },
  async answerElicitation(call) {
    const { conversation, elicitationId } = await waitingTurn();
    const body = call.body as { responses?: object[] };
    call.body = body.responses
      ? {
          conversationId: conversation,
          responses: body.responses.map((one, index) => (index === 0 ? { ...one, elicitationId } : one)),
        }
      : { ...body, conversationId: conversation, elicitationId };
  },
};

/** What is answered where it is not 200. */
const expected: Record<string, number> = {
  // Tracker asks for an account and not with a form: its question takes no content.
  'answerElicitation 1': 400,
  // Nor is it an approval.
  'answerElicitation 2': 400,
  'answerElicitation 3': 400,
  'deleteConversation 0': 204,
  // The example has no signature.
  'completeElicitation 0': 401,
};

/** The parameters with their examples, each as it goes over the wire. */
function exampleOf({ parameters, body }: Operation, example: number): Call {
  const given = (place: string) =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place)
        .map(({ name, example: value }) => [name, String(value)]),
    );
  return {
    path: given('path'),
    query: given('query'),
    headers: given('header'),
    body: body?.examples[example],
  };
}

async function send({ method, path: template, isPublic }: Operation, call: Call, signal: AbortSignal) {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(call.path[name] ?? ''),
  );
  return fetch(`${service.baseUrl}${path}?${new URLSearchParams(call.query)}`, {
    method,
    headers: {
      ...call.headers,
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
      ...(!isPublic && { authorization: `Bearer ${await service.token('alice')}` }),
    },
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
    signal,
  });
}

/** Up to `[DONE]` or to what can be seen of a stream that stays open: its first question. */
async function readEvents(response: Response): Promise<unknown[]> {
  const found: unknown[] = [];
  const events = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events ?? []) {
    if (data === '[DONE]') break;
    found.push(JSON.parse(data));
    if (data.includes('elicitation-request')) break;
  }
  return found;
}

async function problemsWith({ id, responses }: Operation, response: Response): Promise<string[]> {
  if (response.status === 204) return [];
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const { content = {}, headers = {} } = responses[response.status] ?? {};
  const described = content[type];
  if (!described) return [`${id} is not described as answering ${response.status} ${type}`];
  if (type === 'application/x-ndjson') return check(described.schema, await response.text());
  if (type !== 'text/event-stream') return check(described.schema, await response.json());
  const missing = Object.keys(headers).filter((name) => !response.headers.get(name));
  if (missing.length > 0) return [`${missing.join()} missing`];
  const events = await readEvents(response);
  const carried = resolve(document, described.schema['x-event-data'] as Schema);
  return events.length === 0 ? ['the stream says nothing'] : events.flatMap((event) => check(carried, event));
}

describe('a route answers as it is described when it is called with', () => {
  test('each of its examples', async () => {
    // Temporal may hear a little later that there is a worker.
    await expect.poll(() => lacking(service.baseUrl)).toEqual([]);
    const operations = operationsOf(document);
    const seen: string[] = [];
    for (const operation of operations) {
      const examples = Math.max(1, operation.body?.examples.length ?? 0);
      for (let example = 0; example < examples; example++) {
        const call = exampleOf(operation, example);
        // The same key with another request is refused, as it should be.
        if ('idempotency-key' in call.headers) call.headers['idempotency-key'] = randomUUID();
        await preparations[operation.id]?.(call, example);
        const abort = new AbortController();
        const response = await send(operation, call, abort.signal);
        const name = `${operation.id} ${example}`;
        expect([name, response.status]).toEqual([name, expected[name] ?? 200]);
        expect([name, await problemsWith(operation, response)]).toEqual([name, []]);
        abort.abort();
        seen.push(name);
      }
    }
    expect(Object.keys(preparations).filter((id) => !seen.includes(`${id} 0`))).toEqual([]);
    expect(Object.keys(expected).filter((name) => !seen.includes(name))).toEqual([]);
  });
});
