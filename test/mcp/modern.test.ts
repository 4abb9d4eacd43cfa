/** Clients of the 2026-07-28 revision call our agents, with a client of the SDK over HTTP: each way in which a call ends. */
import { expect, test } from 'vitest';
import { useAskingService } from '../asking/asking-service.ts';
import { connectClient } from './mcp-client.ts';

const setup = useAskingService();

test('an agent answers, and its conversation goes on under the id that the result names', async () => {
  await using client = await connectClient(setup.service);
  expect(client.getProtocolEra()).toBe('modern');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['ask_assistant', 'ask_lead']));

  const first = await client.callTool({ name: 'ask_assistant', arguments: { message: 'hello' } });
  expect(first.content[0]).toEqual({ type: 'text', text: 'You said: hello' });
  const { conversationId, status } = first.structuredContent as Record<string, string>;
  expect(status).toBe('completed');
  const second = await client.callTool({
    name: 'ask_assistant',
    arguments: { message: 'and again', conversationId },
  });
  expect(second.structuredContent).toMatchObject({ conversationId, status: 'completed' });
});
