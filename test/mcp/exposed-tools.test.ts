/** Tools in TypeScript that MCP clients call themselves: no model in between, and each way of asking leads through the same tool. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { createClient } from '@interlude-ai/client/index.ts';
import type { ElicitationContext, ElicitationRequest } from '@interlude-ai/client/index.ts';
import { ElicitationRequestSchema } from '@interlude-ai/core/contract/index.ts';
import { useService } from '../service/use-service.ts';
import { connectClient, pageIn, rawRequest } from './mcp-client.ts';
import { exposed, outputSchema, playWizard, useExposedTools } from './use-exposed-tools.ts';

const { used, bundle, notes } = useExposedTools();
const both = { elicitation: { form: {}, url: {} } };

test('they are listed as their author describes them, and only those', async () => {
  await using client = await connectClient(used.service);
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...exposed, 'ask_assistant']));
  expect(names).not.toContain('survey');
  const deletePage = tools.find(({ name }) => name === 'delete_page');
  expect(deletePage).toMatchObject({
    title: 'Delete page',
    description: 'Deletes a page of the wiki.',
    inputSchema: { type: 'object', properties: { page: { type: 'string' } } },
    outputSchema: { anyOf: [outputSchema, {}] },
    annotations: { destructiveHint: true },
  });
});

test('a worker with another agents file takes no tool away: each agent keeps its own', async () => {
  const { exposedTools } = used.service.storage;
  const other = { name: 'greet', agent: 'lead', title: 'Other', description: 'Of lead', inputSchema: {} };
  await exposedTools.replace(['lead', 'elsewhere'], [other, { ...other, agent: 'elsewhere' }]);
  const greeting = async (agent?: string) => {
    await using client = await connectClient(used.service, agent === undefined ? {} : { agent });
    const { tools } = await client.listTools();
    return tools.filter(({ name }) => name === 'greet').map(({ description }) => description);
  };
  const [own] = await greeting('assistant');
  expect(own).not.toBe('Of lead');
  expect(await greeting()).toEqual([own]);
  expect(await greeting('lead')).toEqual(['Of lead']);
  await exposedTools.replace(['lead', 'elsewhere'], []);
  expect(await greeting()).toEqual([own]);
});

test('a call is made without a model, and its result is the tool’s own', async () => {
  await using client = await connectClient(used.service);
  expect(await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })).toEqual(
    expect.objectContaining({ content: [{ type: 'text', text: 'Hello, Ada.' }] }),
  );
  const wrong = await client.callTool({ name: 'greet', arguments: { name: 7 } });
  expect(wrong).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('name') }] });
  await expect(client.callTool({ name: 'survey', arguments: { questions: 1 } })).rejects.toThrow(/no tool/);
});

test('a client that shows forms is asked, and the same call goes on to structured content', async () => {
  await using client = await connectClient(used.service, { capabilities: both });
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { confirmed: true } }));
  const result = await client.callTool({ name: 'delete_page', arguments: { page: 'Home' } });
  expect(result.structuredContent).toEqual({ deleted: true });
  expect(notes()).toEqual(['deleted Home']);
});

describe('the client of the service calls them', () => {
  const asAlice = async (options = {}) =>
    createClient({ baseUrl: used.service.baseUrl, token: await used.service.token('alice'), ...options });

  test('its handlers answer what they ask, and without one it is declined', async () => {
    const client = await asAlice();
    const seen: ElicitationRequest[] = [];
    const remove = client.onElicitation((question) => {
      seen.push(question);
      return { action: 'accept', content: { confirmed: true } };
    });
    expect(await client.callTool('delete_page', { page: 'Home' })).toMatchObject({
      structuredContent: { deleted: true },
    });
    expect(ElicitationRequestSchema.parse(seen[0])).toMatchObject({
      mode: 'form',
      status: 'pending',
      context: { trigger: 'tool_elicitation', toolName: 'delete_page' },
    });
    remove();
    expect(await client.callTool('delete_page', { page: 'Away' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('nobody agreed (decline)') }],
    });
    expect(notes()).toEqual(['deleted Home']);
  });

  test('a form that does not fit is asked again, and a second call with the same key is the first', async () => {
    const client = await asAlice({ capabilities: { form: true, url: false } });
    const asked: number[] = [];
    const options = {
      idempotencyKey: randomUUID(),
      onElicitation: (_: unknown, { errors }: ElicitationContext) => {
        asked.push(errors.length);
        return { action: 'accept' as const, content: { confirmed: errors.length > 0 ? true : 'perhaps' } };
      },
    };
    const first = await client.callTool('delete_page', { page: 'Home' }, options);
    expect([first.structuredContent, asked]).toEqual([{ deleted: true }, [0, 1]]);
    expect(await client.callTool('delete_page', { page: 'Home' }, options)).toEqual(first);
    expect(notes()).toEqual(['deleted Home']);
  });

  test('what cannot be called is an error, with the code of the API where there is one', async () => {
    const client = await asAlice();
    await expect(client.callTool('survey', { questions: 1 })).rejects.toMatchObject({
      name: 'InterludeError',
      code: 'tool_call_refused',
      detail: expect.stringContaining('no tool "survey"'),
    });
    await expect(client.callTool('greet', {}, { agentId: 'nobody' })).rejects.toMatchObject({
      status: 404,
      code: 'unknown_agent',
    });
    const stranger = createClient({ baseUrl: used.service.baseUrl, token: 'wrong' });
    await expect(stranger.callTool('greet', { name: 'Ada' })).rejects.toMatchObject({ status: 401 });
  });

  test('a question that is left open is asked once, and the call goes on when it is answered elsewhere', async () => {
    const client = await asAlice({ timing: { firstRetryMs: 50, lastRetryMs: 200 } });
    let times = 0;
    const called = client.callTool(
      'delete_page',
      { page: 'Home' },
      { onElicitation: () => void (times += 1) },
    );
    const [question] = await vi.waitUntil(async () => {
      const open = await client.allOpenElicitations();
      return times > 0 && open.length > 0 && open;
    });
    await client.answer({
      conversationId: question?.conversationId ?? '',
      elicitationId: question?.elicitationId ?? '',
      action: 'accept',
      content: { confirmed: true },
    });
    expect(await called).toMatchObject({ structuredContent: { deleted: true } });
    expect([times, notes()]).toEqual([1, ['deleted Home']]);
  });
});

test('a wizard of three steps, in each way of asking', async () => {
  await playWizard(used.service, 3);
  expect(notes()).toHaveLength(9);
});

test('nobody is asked for a tool that says no, and two calls at once are two', async () => {
  await using client = await connectClient(used.service, { capabilities: both });
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: { confirmed: String(params.message).includes('One') },
  }));
  const pages = ['One', 'Two'];
  const results = await Promise.all(
    pages.map((page) => client.callTool({ name: 'delete_page', arguments: { page } })),
  );
  expect(results.map(({ structuredContent }) => structuredContent)).toEqual([
    { deleted: true },
    { deleted: false },
  ]);
  expect(notes()).toEqual(['deleted One']);

  client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
  const declined = await client.callTool({ name: 'delete_page', arguments: { page: 'Three' } });
  expect(declined).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('nobody agreed') }],
  });
});

test('an open question is in a form that the tool’s schema allows', async () => {
  await using client = await connectClient(used.service);
  await client.listTools();
  const asked = await client.callTool({ name: 'delete_page', arguments: { page: 'Home' } });
  expect(asked.structuredContent).toMatchObject({ status: 'input_required' });
  const { turnId } = asked.structuredContent as { turnId: string };
  const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  expect((await rawRequest(used.service, 'tasks/cancel', { taskId: turnId }, tasks)).error).toBeUndefined();
  // The call is stopped, and its end follows.
  const wait = () => client.callTool({ name: 'wait_for_turn', arguments: { turnId } });
  await expect.poll(wait).toMatchObject({ isError: true, structuredContent: { status: 'cancelled' } });
  expect(notes()).toEqual([]);
});

test('behind a service nobody is asked, and the tool is told so', async () => {
  const token = await used.service.apiKey();
  await using client = await connectClient({ ...used.service, token: () => Promise.resolve(token) });
  const result = await client.callTool({ name: 'delete_page', arguments: { page: 'Home' } });
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('unsupported') }],
  });
  expect(notes()).toEqual([]);
});

describe('where calls are approved, and a user may have few open questions', () => {
  const limited = useService({
    tools: { assistant: bundle },
    approval: 'always',
    env: { ELICITATION_MAX_OPEN: '2' },
  });

  test('a call is approved first, by the same question on the same call', async () => {
    await using client = await connectClient(limited.service, { capabilities: both });
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      if (asked.length > 1) return { action: 'decline' };
      const elicitationId = pageIn(params);
      const row = await limited.service.storage.elicitations.get(elicitationId);
      const conversationId = row?.conversation ?? '';
      await limited.alice.answer({ conversationId, elicitationId, action: 'accept' });
      return { action: 'accept' };
    });
    const greet = () => client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
    expect((await greet()).content).toEqual([{ type: 'text', text: 'Hello, Ada.' }]);
    expect(await greet()).toMatchObject({ isError: true });
    expect(asked).toEqual([expect.stringContaining('"name": "Ada"'), expect.stringContaining('greet')]);
  });

  test('a question too many is told to the client at once, and another user has questions of their own', async () => {
    await using alice = await connectClient(limited.service);
    const greet = (client: typeof alice) => client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
    const pending = [await greet(alice), await greet(alice)];
    expect(await greet(alice)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/too many|open questions/i) }],
    });
    await using bob = await connectClient(limited.service, { user: 'bob' });
    expect((await greet(bob))._meta).toHaveProperty('elicitationPending');
    for (const { _meta: meta } of pending) {
      const { elicitId } = (meta ?? {})['elicitationPending'] as { elicitId: string };
      await alice.callTool({ name: 'sendElicitationResult', arguments: { elicitId, action: 'decline' } });
    }
  });
});
