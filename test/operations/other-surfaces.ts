/** Turns that wait, begun in Slack and by clients of A2A, MCP, OpenAI and AG-UI: see waiting-turns.ts. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, isInputRequiredResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/client';
import type { ChatCompletionChunk } from 'openai/resources/chat';
import { expect } from 'vitest';
import { openStorage } from '../../src/storage/open-storage.ts';
import { answerOf, connectAgent, stateOf, wordsOf } from '../api/a2a/a2a-client.ts';
import { connect, runUrl } from '../api/ag-ui/stock-client.ts';
import type { Run } from '../api/ag-ui/stock-client.ts';
import { createOpenAI, questionIn, say, textIn } from '../clients/openai-client.ts';
import { createCaller } from '../service/user.ts';
import type { Chat } from '../servers/slack/chat.ts';
import type { SlackServer } from '../servers/slack/slack-server.ts';
import { linkAlice, startWorkspace as startSlack, writeAsAlice } from '../api/slack/alice-in-slack.ts';
import type { Installation } from './installation.ts';
import { answerElicitation, doneAbout, nights, textFor } from './waiting-turns.ts';
import type { Ended, Kind, WaitingTurn } from './waiting-turns.ts';

/** How an answer about a booking begins, or says why there is none. */
const endWords = /book: |unknown|cannot|broke the connection/;
const patient = { timeout: 150_000, interval: 250 };

export interface SlackWorkspace {
  env: Record<string, string>;
  /** Once an API has run. */
  link(at: Installation): Promise<void>;
  begin(at: Installation, city: string): Promise<WaitingTurn>;
  stop(): Promise<void>;
}

export async function startWorkspace(): Promise<SlackWorkspace> {
  const { slack, chat, env } = await startSlack();
  return {
    env,
    async link({ database }) {
      const storage = await openStorage(database.config());
      await linkAlice(storage.slack);
      await storage.close();
    },
    begin: (at, city) => beginInSlack(at, city, slack, chat),
    stop: async () => slack[Symbol.asyncDispose](),
  };
}

async function beginInSlack(
  at: Installation,
  city: string,
  slack: SlackServer,
  chat: Chat,
): Promise<WaitingTurn> {
  const ts = await writeAsAlice(slack, { baseUrl: at.apiUrls[0] }, textFor('slack', city));
  const thread = () => chat.thread('DU1', ts);
  const find = async (place: 0 | 1) => {
    const caller = createCaller(at.apiUrls[place], await at.deployment.token('alice'));
    const { body } = await caller.request('GET', '/run/v1/elicitations');
    const items = (body['items'] ?? []) as {
      conversationId: string;
      elicitationId: string;
      message: string;
    }[];
    return items.find(({ message }) => message.includes(`${city}?`));
  };
  let asked: Awaited<ReturnType<typeof find>>;
  return {
    kind: 'slack',
    city,
    async asked() {
      await expect.poll(() => chat.texts('DU1', ts).join('\n'), patient).toContain('asks:');
      await expect.poll(async () => (asked = await find(0)), patient).toBeDefined();
    },
    answer(place = 0, action = 'accept') {
      const { conversationId = '', elicitationId = '' } = asked ?? {};
      return answerElicitation(at, place, { conversationId, elicitationId, action }, { nights });
    },
    async ended() {
      const ends = () => thread().filter(({ text }) => endWords.test(text));
      // An answer appears as it is written.
      const isWhole = () => ends().length > 0 && thread().every((message) => message.streamedSince === null);
      await expect.poll(isWhole, patient).toBe(true);
      const answers = ends().map(({ text }) => text);
      return endOf(at, 'slack', city, answers.join(' and again: '));
    },
  };
}

export async function beginByA2A(at: Installation, city: string): Promise<WaitingTurn> {
  const connect = (place: 0 | 1) =>
    connectAgent({ baseUrl: at.apiUrls[place], token: (user) => at.deployment.token(user as 'alice') });
  const { id } = await (await connect(0)).send(textFor('a2a', city), { returnImmediately: true });
  const now = async () => (await connect(0)).get(id);
  return {
    kind: 'a2a',
    city,
    asked: () => expect.poll(async () => stateOf(await now()), patient).toBe('INPUT_REQUIRED'),
    async answer(place = 0) {
      const agent = await connect(place);
      if (stateOf(await agent.get(id)) !== 'INPUT_REQUIRED') return { status: 200, body: {} };
      const task = await agent.send({ nights }, { taskId: id, returnImmediately: true });
      return { status: 200, body: { state: stateOf(task), words: wordsOf(task) } };
    },
    async ended() {
      const state = async () => stateOf(await now().catch(() => ({ status: undefined })));
      await expect.poll(state, patient).toMatch(/COMPLETED|FAILED|CANCELED|REJECTED/);
      const task = await now();
      const end = endOf(at, 'a2a', city, answerOf(task));
      return stateOf(task) === 'COMPLETED' ? end : { ...end, status: stateOf(task) };
    },
  };
}

/** The client calls again with its user's answer, as often as it takes: the call is named by the state that it was given. */
export async function beginByMcp(at: Installation, city: string): Promise<WaitingTurn> {
  const call = { name: 'ask_assistant', arguments: { message: textFor('mcp', city) } };
  const asking = callTool(at, 0, call);
  asking.catch(() => undefined);
  let last: CallToolResult | undefined;
  return {
    kind: 'mcp',
    city,
    asked: () => asking,
    async answer(place = 0, action = 'accept') {
      let result: CallToolResult | InputRequiredResult = await asking;
      // It is asked again for as long as no worker has come to the answer, which counts from the first time.
      for (const until = Date.now() + patient.timeout; isInputRequiredResult(result);) {
        if (Date.now() > until) return { status: 504, body: {} };
        const { requestState, inputRequests = {} } = result;
        const response = { action, ...(action === 'accept' && { content: { nights } }) };
        const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, response]));
        result = await callTool(at, place, { ...call, requestState, inputResponses });
      }
      last = result;
      return { status: 200, body: {} };
    },
    async ended() {
      await expect.poll(() => last, patient).toBeDefined();
      const [said] = last?.content ?? [];
      return endOf(at, 'mcp', city, said?.type === 'text' ? said.text : '');
    },
  };
}

/** A client that is cut off sends the same request again, at the other API, and reads the same turn from its start. */
export function beginByOpenAI(at: Installation, city: string): WaitingTurn {
  const conversationId = randomUUID();
  const request = say(textFor('openai', city), { conversationId });
  const headers = { 'idempotency-key': randomUUID() };
  const question = Promise.withResolvers<{ elicitationId: string }>();
  const read = async (place: 0 | 1) => {
    const service = { baseUrl: at.apiUrls[place], token: () => at.deployment.token('alice') };
    const client = await createOpenAI(service, 'alice', { supports: 'true' });
    const chunks: ChatCompletionChunk[] = [];
    for await (const chunk of await client.chat.completions.create(request, { headers })) {
      chunks.push(chunk);
      const found = questionIn(chunk);
      if (found) question.resolve(found);
    }
    return chunks;
  };
  const readToEnd = async () => {
    for (let place: 0 | 1 = 0; ; place = place === 0 ? 1 : 0, await sleep(patient.interval))
      try {
        const chunks = await read(place);
        if (chunks.at(-1)?.choices[0]?.finish_reason) return { status: 'completed', said: textIn(chunks) };
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        if (code !== undefined && !goesOn.test(code)) return { status: 'failed', said: message };
      }
  };
  const end = readToEnd();
  const withoutQuestion = end.then(({ status, said }) => {
    throw new Error(`${city} ended without a question: ${status}, ${said}`);
  });
  withoutQuestion.catch(() => undefined);
  return {
    kind: 'openai',
    city,
    asked: () => Promise.race([question.promise, withoutQuestion]),
    async answer(place = 0, action = 'accept') {
      const { elicitationId } = await question.promise;
      return answerElicitation(at, place, { conversationId, elicitationId, action }, { nights });
    },
    async ended() {
      const { status, said } = await end;
      return { ...endOf(at, 'openai', city, said), status };
    },
  };
}

/** Codes of errors that leave the turn as it was. */
const goesOn = /^(E[A-Z]+|UND_ERR.*|turn_unfinished|unavailable|overloaded|rate_limit.*|internal.*)$/;

/** The question ends a run; the answer begins another one, as often as it takes. */
export async function beginByAgUi(at: Installation, city: string): Promise<WaitingTurn> {
  const service = { token: () => at.deployment.token('alice'), begun: () => undefined };
  const client = await connect({ ...service, baseUrl: at.apiUrls[0] });
  const { interrupts } = await client.run(textFor('ag-ui', city));
  let last: Run | undefined;
  return {
    kind: 'ag-ui',
    city,
    asked: async () => expect(interrupts).toHaveLength(1),
    async answer(place = 0, action = 'accept') {
      client.agent.url = runUrl({ baseUrl: at.apiUrls[place] });
      const payload = action === 'accept' ? { nights } : { action };
      const resume = interrupts.map(({ id }) => ({ interruptId: id, status: 'resolved' as const, payload }));
      last = await client.run(undefined, { resume });
      return { status: 200, body: { outcome: last.outcome } };
    },
    async ended() {
      await expect.poll(() => last, patient).toBeDefined();
      // Another run begins with what a run missed that was cut off.
      for (; last?.outcome === 'RUN_ERROR'; await sleep(patient.interval)) {
        client.agent.pendingInterrupts = [];
        last = await client.run();
      }
      return endOf(at, 'ag-ui', city, client.texts().join(''));
    },
  };
}

async function callTool(
  at: Installation,
  place: 0 | 1,
  params: object,
): Promise<CallToolResult | InputRequiredResult> {
  const client = new Client(
    { name: 'operations', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  const headers = { authorization: `Bearer ${await at.deployment.token('alice')}` };
  const url = new URL('/run/v1/mcp', at.apiUrls[place]);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  try {
    const request = { method: 'tools/call', params } as Parameters<typeof client.request>[0];
    return (await client.request(request, { allowInputRequired: true, timeout: 120_000 } as never)) as
      | CallToolResult
      | InputRequiredResult;
  } finally {
    await client.close();
  }
}

function endOf(at: Installation, kind: Kind, city: string, said: string): Ended {
  return { status: 'completed', said, questions: ['accept'], done: doneAbout(at, { kind, city }) };
}
