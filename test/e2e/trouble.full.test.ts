/** What a turn leans on is out of order: the user reads which and what to do, and the conversation stays usable. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTracker } from '../../demo/tracker/tracker.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { ChatRequest, OpenAIServer, Reply } from '../servers/openai-server.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';
import { connectAccount } from '../service/connect-account.ts';
import { failuresIn, say, textOf } from './watch.ts';
import { createDeployment, showOutput } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;
let model: OpenAIServer;
let line: TcpProxy;

function reply(request: ChatRequest): Reply {
  const said = JSON.stringify(request.messages.findLast(({ role }) => role === 'user')?.content);
  const askedBefore = model.requests.filter(({ body }) => JSON.stringify(body).includes(said)).length > 1;
  if (said.includes('locked')) return { kind: 'status', status: 401 };
  if (said.includes('busy') && !askedBefore)
    return { kind: 'status', status: 429, headers: { 'retry-after': '1' } };
  return { kind: 'text', chunks: ['All ', 'is well.'] };
}

beforeAll(async () => {
  model = await createOpenAIServer({ reply });
  line = await startTcpProxy({ to: Number(new URL(model.baseURL).port) });
  deployment = await createDeployment({ env: { MODEL_URL: `http://127.0.0.1:${line.port}/v1` } });
  deployment.defer(() => Promise.all([line.stop(), model.stop()]));
  await deployment.start('start');
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

const tell = (text: string, conversationId?: string) =>
  say(deployment.client('alice'), text, {
    agentId: 'writer',
    ...(conversationId !== undefined && { conversationId }),
  });

describe('the model', () => {
  test('refuses our key: the turn fails at once, the console says what to check, and the next one works', async () => {
    const turn = tell('the door is locked');
    const view = await turn.end();
    expect(view).toMatchObject({ status: 'failed' });
    expect(view.errorText).toBe(
      'The assistant cannot answer because of a problem in its set-up. Tell the operator of this service.',
    );
    await expect
      .poll(() => deployment.output())
      .toMatch(
        /model call failed: The model openai-compatible:some-model at 127\.0\.0\.1:\d+ refused our key \(401\)\. /,
      );
    expect(model.requests).toHaveLength(1);
    const next = tell('and now?', turn.message.conversationId);
    expect(textOf(await next.end())).toBe('All is well.');
  });

  test('has too much to do: it is asked again when it said, and the user notices nothing else', async () => {
    const turn = tell('are you busy?');
    expect(await turn.end()).toMatchObject({ status: 'completed' });
    expect(textOf(await turn.end())).toBe('All is well.');
  });

  test('cannot be reached for a moment: the answer only comes later', async () => {
    line.refuse();
    line.cut();
    const turn = tell('anybody there?');
    await turn.until(({ turnId }) => turnId !== null);
    line.accept();
    expect(textOf(await turn.end())).toBe('All is well.');
  });

  test('stays away: the turn ends with what to do, and the next one works', async () => {
    line.refuse();
    line.cut();
    const turn = tell('is it still there?');
    const view = await turn.end();
    expect(view.status).toBe('failed');
    expect(view.errorText).toBe('The assistant cannot be reached right now. Try again in a moment.');
    line.accept();
    const next = tell('and now?', turn.message.conversationId);
    expect(textOf(await next.end())).toBe('All is well.');
  });
});

test('an MCP server is down: the model is told which, nothing ran, and the conversation goes on when it is back', async () => {
  const alice = deployment.client('alice');
  const first = say(alice, 'list my open issues');
  await connectAccount('alice', (await first.question()).url);
  await first.end();

  const { origin } = deployment.tracker;
  await deployment.tracker.stop();
  const { conversationId } = first.message;
  const turn = say(alice, 'create an issue called Nobody home', { conversationId });
  const view = await turn.end();
  expect(view.status).toBe('completed');
  expect(failuresIn(view)).toEqual([
    expect.stringMatching(
      /^Tracker \(127\.0\.0\.1:\d+\) cannot be reached: nothing is listening there\. .+ The tool did not run\.$/,
    ),
  ]);
  expect(textOf(view)).toContain('Tracker (127.0.0.1');

  const back = await startTracker({
    port: Number(new URL(origin).port),
    dataDir: `${deployment.dataDir}/tracker`,
  });
  deployment.defer(() => back.stop());
  const next = say(alice, 'create an issue called Somebody home', { conversationId });
  expect(textOf(await next.end())).toBe('Created.');
  expect(back.calls.filter(({ tool }) => tool === 'create_issue')).toHaveLength(1);
});
