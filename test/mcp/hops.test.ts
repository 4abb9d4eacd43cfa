/** A client, our agent, a server below: what passes from one hop to the next, and what must not. */
import { isInputRequiredResult } from '@modelcontextprotocol/client';
import { beforeEach, expect, test } from 'vitest';
import { useAskingService } from '../asking/asking-service.ts';
import { asks, form, page } from '../servers/scripted-mcp-server.ts';
import { connectClient } from './mcp-client.ts';

/** The headers of every call that the server below has had. */
const received: object[] = [];
const setup = useAskingService({
  letsIn: (_response, { headers }) => {
    received.push(headers);
    return true;
  },
});
const callAsk = { name: 'ask_assistant', arguments: { message: 'call asking__ask {}' } };
const both = { elicitation: { form: {}, url: {} } };

beforeEach(() => received.splice(0));

test('each hop has its own id and state, and no credential of the caller goes further', async () => {
  setup.server.play(asks({ 'key-below': form('Which city?') }, 'state-below'));
  const { baseUrl } = setup.service;
  const token = await setup.service.token('alice');
  await using client = await connectClient(
    { baseUrl, token: () => Promise.resolve(token) },
    { capabilities: both },
  );
  const call = async (params: object = {}) => {
    const request = { method: 'tools/call' as const, params: { ...callAsk, ...params } };
    return (await client.request(request, { allowInputRequired: true })) as object;
  };

  const asked = await call();
  if (!isInputRequiredResult(asked)) throw new Error(`nobody was asked: ${JSON.stringify(asked)}`);
  const [key = ''] = Object.keys(asked.inputRequests ?? {});
  expect(key).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.stringify(asked)).not.toMatch(/key-below|state-below/);

  const { requestState } = asked;
  const answered = { [key]: { action: 'accept', content: { city: 'Lisbon' } } };
  expect(await call({ requestState, inputResponses: answered })).toMatchObject({
    structuredContent: { status: 'completed' },
  });
  expect(setup.server.calls).toHaveLength(2);
  expect(setup.server.calls[1]?.params).toMatchObject({
    inputResponses: { 'key-below': answered[key] },
    requestState: 'state-below',
  });
  const below = JSON.stringify({ received, calls: setup.server.calls });
  expect(received).toHaveLength(2);
  for (const ours of [key, requestState ?? key, token, token.split('.').at(-1) ?? token, 'authorization'])
    expect(below).not.toContain(ours);
});

test('a link of a server below is shown as it is, with its host and who asks', async () => {
  const url = 'https://pay.example.com/a?invoice=1';
  setup.server.play(asks({ there: page(url) }));
  await using client = await connectClient(setup.service);
  const pending = await client.callTool(callAsk);
  const { elicitId, ...question } = (pending._meta ?? {})['elicitationPending'] as Record<string, string>;
  const [words] = pending.content as { text: string }[];
  expect(words?.text).toContain(url);
  expect(words?.text).toContain('leads to pay.example.com');
  expect(words?.text).toContain(new URL(setup.server.url).host);
  expect(question).toMatchObject({ url });
  await client.callTool({ name: 'sendElicitationResult', arguments: { elicitId, action: 'decline' } });
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ there: { action: 'decline' } });
});

test.each([
  ['a client that shows nothing has a model that asks, so both modes are there', {}],
  ['a client that shows forms is given links in words, so both modes are there', { elicitation: {} }],
])('%s', async (_, capabilities) => {
  setup.server.play();
  await using client = await connectClient(setup.service, { capabilities });
  await client.callTool(callAsk);
  expect(modesBelow()).toEqual({ form: {}, url: {} });
});

test('behind a service nobody can be asked, and a server below is told so', async () => {
  setup.server.play();
  const key = await setup.service.apiKey();
  await using client = await connectClient(
    { baseUrl: setup.service.baseUrl, token: () => Promise.resolve(key) },
    { capabilities: both },
  );
  await client.callTool(callAsk);
  expect(setup.server.calls).toHaveLength(1);
  expect(modesBelow()).toBeUndefined();
});

function modesBelow(): unknown {
  const declared = setup.server.calls[0]?.params._meta?.['io.modelcontextprotocol/clientCapabilities'];
  return (declared as { elicitation?: unknown } | undefined)?.elicitation;
}
