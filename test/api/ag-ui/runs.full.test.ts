/** The client that CopilotKit and assistant-ui install, and a thread that is too long for one snapshot. */
import { expect, onTestFinished, test } from 'vitest';
import { answer } from '../../servers/raw-mcp-server.ts';
import { done } from '../../servers/scripted-mcp-server.ts';
import { startTcpProxy } from '../../servers/tcp-proxy.ts';
import { call, refused, testRuns, useAgUiService } from './runs.ts';
import { connect, runUrl } from './stock-client.ts';

const setup = useAgUiService();

testRuns(setup, '0.0.59');

test('a snapshot leaves out the oldest turns of a long thread, so that its client can go on', async () => {
  setup.server.play(...['one', 'two', 'three'].map((word) => done(`${word} ${'x'.repeat(200_000)}`)));
  const first = await connect(setup.service);
  for (let turn = 0; turn < 3; turn++) await first.run(call);
  const late = await connect(setup.service, { threadId: first.threadId });
  await late.run();
  const results = late.agent.messages.flatMap(({ role, content }) =>
    role === 'tool' && typeof content === 'string' ? [content.slice(0, 5)] : [],
  );
  expect(results).toEqual(['two x', 'three']);
  expect((await late.run('hello')).types).not.toContain('MESSAGES_SNAPSHOT');

  // A client with more than a request may have begins with an empty list.
  late.agent.setMessages([...late.agent.messages, ...late.agent.messages, ...late.agent.messages]);
  await refused(late.run('and again'), 'The body may have at most');
  late.agent.setMessages([]);
  expect((await late.run('and again')).outcome).toBe('success');
  await late.run();
  expect(late.texts().slice(-2)).toEqual(['You said: hello', 'You said: and again']);
});

test.each(['1.0.0', '0.0.59'] as const)(
  'a client %s that loses its connection runs the thread again',
  async (version) => {
    const line = await startTcpProxy({ to: Number(new URL(setup.service.baseUrl).port) });
    onTestFinished(() => line.stop());
    setup.server.play((message, response) => {
      line.cut();
      answer(message, response, done('sunny'));
    });
    const client = await connect(setup.service, { version });
    client.agent.url = runUrl({ baseUrl: line.url });
    await expect(client.run(call)).rejects.toThrow('terminated');
    expect((await client.run()).outcome).toBe('success');
    expect(client.texts()).toEqual(['sunny']);
  },
);
