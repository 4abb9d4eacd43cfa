/** Each third-party client once: it calls an agent and asks its user a form. Their whole matrix is in the release tests. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { pythonWithLangChain } from '../../servers/fastmcp.ts';
import { asking, opening } from './all-clients.ts';

const setup = useAskingService();
const open = opening(() => setup.service);

test.for(asking)(
  '$name asks its user, and the agent goes on with the answer',
  { timeout: 900_000 },
  async ({ start, missing }, { skip }) => {
    const why = await missing?.();
    if (why !== undefined) skip(why);
    const lisbon = { action: 'accept', content: { city: 'Lisbon' } } as const;
    setup.server.play(asks({ city: form('Which city?', { city: { type: 'string' } }) }));
    await using client = await open(start, [() => lisbon]);
    const { text } = await client.call('ask_assistant', { message: 'call asking__ask {}' });
    expect(text).toMatch(/^done\n/);
    expect(client.asked).toMatchObject([{ mode: 'form', message: expect.stringContaining('Which city?') }]);
    expect(setup.server.calls[1]?.params.inputResponses).toEqual({ city: lisbon });
  },
);

test(
  'LangChain’s model for OpenAI’s API reads on when the question was answered elsewhere',
  { timeout: 900_000 },
  async ({ skip }) => {
    const python = await pythonWithLangChain();
    if (python.kind === 'missing') return skip(python.why);
    setup.server.play(asks({ city: form('Which city?', { city: { type: 'string' } }) }));
    const script = fileURLToPath(new URL('../../clients/langchain.py', import.meta.url));
    const args = [
      script,
      `${setup.service.baseUrl}/run/v1`,
      await setup.service.token('alice'),
      'call asking__ask {}',
    ];
    const child = spawn(python.executable, args, {
      env: { ...process.env, NO_PROXY: '127.0.0.1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    await lines.next();
    const open = () => setup.service.storage.elicitations.openOf({ tenant: 'demo', user: 'alice' });
    await expect.poll(open).toHaveLength(1);
    const [question] = await open();
    await setup.alice.request('POST', '/run/api/elicitation-responses', {
      elicitationId: question?.id,
      conversationId: question?.conversation,
      action: 'accept',
      content: { city: 'Lisbon' },
    });
    expect(JSON.parse((await lines.next()).value as string)).toMatchObject({
      text: expect.stringMatching(/done$/),
      metadata: { finish_reason: 'stop' },
    });
  },
);
