/** Clients that cannot be asked: the tool's result, word for word, and what their model may answer. */
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { afterAll, expect, test } from 'vitest';
import { questionMetaKey, QuestionMetaSchema } from '@interlude-ai/core/contract/index.ts';
import { useAskingService } from '../asking/asking-service.ts';
import { asks, form, page } from '../servers/scripted-mcp-server.ts';
import { connectClient } from './mcp-client.ts';

const setup = useAskingService();
const callAsk = { name: 'ask_assistant', arguments: { message: 'call asking__ask {}' } };
afterAll(() => setup.service.endTurns());

interface Pending {
  elicitId: string;
  message: string;
}

const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text;
const pendingOf = ({ _meta }: CallToolResult) => _meta?.['elicitationPending'] as Pending;
const send = (client: Client, { elicitId }: Pending, rest: object) =>
  client.callTool({ name: 'sendElicitationResult', arguments: { elicitId, ...rest } });

test('the result says what is asked and what to do, and the rest is in its metadata', async () => {
  const city = { type: 'string', title: 'City', minLength: 2 };
  setup.server.play(asks({ city: form('Which city?', { city }, { required: ['city'] }) }));
  await using client = await connectClient(setup.service);
  const result = await client.callTool(callAsk);
  const { elicitId } = pendingOf(result);
  const { host } = new URL(setup.server.url);
  expect(textOf(result).split('\n').slice(0, 8)).toEqual([
    'This tool requires user input to continue.',
    '',
    `**Question:** Asking (${host}) asks:`,
    '> Which city?',
    '',
    'Ask the user for:',
    '- City (text; required)',
    expect.stringContaining(`Then call sendElicitationResult {"elicitId": "${elicitId}", "action": "accept"`),
  ]);
  expect(result._meta).toMatchObject({
    elicitationPending: {
      elicitId,
      message: `Asking (${host}) asks:\nWhich city?`,
      schema: { type: 'object', properties: { city }, required: ['city'] },
      instructions: 'Call sendElicitationResult tool after collecting user input',
    },
  });
  expect(result).not.toHaveProperty('isError');
  await send(client, { elicitId, message: '' }, { action: 'cancel' });
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ city: { action: 'cancel' } });
});

test('in words or asked, a client reads what made the question necessary, and which agent asks', async () => {
  const task = { task: 'call asking__ask {}' };
  const callLead = {
    name: 'ask_lead',
    arguments: { message: `call agent__assistant ${JSON.stringify(task)}` },
  };
  const origin = { trigger: 'mcp_elicitation', path: ['assistant'] };
  setup.server.play(asks({ city: form('Which city?') }));
  await using unable = await connectClient(setup.service);
  const pending = pendingOf(await unable.callTool(callLead));
  expect(pending).toMatchObject({ version: 1, ...origin });
  const { structuredContent } = await unable.callTool({ name: 'list_my_questions', arguments: {} });
  expect(structuredContent).toMatchObject({ questions: [origin] });
  await send(unable, pending, { action: 'decline' });

  setup.server.play(asks({ city: form('Which city?') }));
  const both = { elicitation: { form: {}, url: {} } };
  await using able = await connectClient(setup.service, { capabilities: both });
  const seen: unknown[] = [];
  able.setRequestHandler('elicitation/create', ({ params }) => {
    seen.push(params._meta?.[questionMetaKey]);
    return { action: 'decline' };
  });
  await able.callTool(callLead);
  expect(seen.map((meta) => QuestionMetaSchema.parse(meta))).toMatchObject([{ version: 1, context: origin }]);
});

test('several at once are answered by their ids, in any order, and by nobody else’s model', async () => {
  setup.server.play(asks({ city: form('Which city?'), street: form('Which street?') }));
  await using alice = await connectClient(setup.service);
  await using bob = await connectClient(setup.service, { user: 'bob' });
  const result = await alice.callTool(callAsk);
  const all = result._meta?.['elicitationsPending'] as Pending[];
  const [city, street] = ['city', 'street'].map((what) => all.find(({ message }) => message.includes(what)));
  if (!city || !street) throw new Error(`not both were asked: ${JSON.stringify(all)}`);
  expect(textOf(result).match(/^\*\*Question:\*\* /gm)).toHaveLength(2);

  const stolen = await send(bob, street, { action: 'accept', content: { city: 'Bobtown' } });
  expect(stolen).toMatchObject({ isError: true });
  expect(JSON.stringify(stolen)).not.toContain('Which street?');

  const left = await send(alice, street, { action: 'accept', content: { city: 'Main Street' } });
  expect(pendingOf(left)).toMatchObject({ elicitId: city.elicitId });
  expect(left._meta).not.toHaveProperty('elicitationsPending');
  const done = await send(alice, city, { action: 'decline' });
  expect(textOf(done)).toBe('done');
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({
    city: { action: 'decline' },
    street: { action: 'accept', content: { city: 'Main Street' } },
  });
  const late = await send(alice, city, { action: 'accept', content: { city: 'Lisbon' } });
  expect(late).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('wait_for_turn') }],
  });
});

test('our page for a stranger’s link is named only to a client that would not show the link itself', async () => {
  const link = asks({ there: page('https://example.com/a') });
  setup.server.play(link);
  await using unable = await connectClient(setup.service, { capabilities: { elicitation: { form: {} } } });
  const result = await unable.callTool(callAsk);
  const { elicitId } = pendingOf(result);
  expect(textOf(result)).toContain(
    '(it leads to example.com), and do not open it yourself: https://example.com/a',
  );
  expect(textOf(result)).toContain(`${setup.service.baseUrl}/auth/answer?e=${elicitId}`);
  await send(unable, pendingOf(result), { action: 'decline' });

  setup.server.play(link);
  const both = { elicitation: { form: {}, url: {} } };
  await using able = await connectClient(setup.service, { capabilities: both });
  const shown: unknown[] = [];
  able.setRequestHandler('elicitation/create', ({ params }) => {
    shown.push(params);
    return { action: 'decline' };
  });
  const declined = await able.callTool(callAsk);
  expect(shown).toMatchObject([{ mode: 'url', url: 'https://example.com/a' }]);
  expect(JSON.stringify([shown, declined])).not.toContain('/auth/answer');
});

test('a client that says what it can be asked under “experimental” can be asked', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  await using client = await connectClient(setup.service, {
    capabilities: { experimental: { elicitation: { form: {}, url: {} } } },
  });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).not.toContain('sendElicitationResult');
  const asked = await client.request({ method: 'tools/call', params: callAsk }, { allowInputRequired: true });
  const requests = (asked as { inputRequests?: Record<string, unknown> }).inputRequests;
  expect(Object.values(requests ?? {})).toMatchObject([{ method: 'elicitation/create' }]);
});
