/** The client that CopilotKit and assistant-ui install, and a thread that is too long for one snapshot. */
import { expect, test } from 'vitest';
import { done } from '../../servers/scripted-mcp-server.ts';
import { call, refused, testRuns, useAgUiService } from './runs.ts';
import { connect } from './stock-client.ts';

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
