/** The matchers for what `callTool` reports, at a server that asks. */
import '../src/vitest.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixtureAnswers } from '../src/answers/fixture.ts';
import { declineAll } from '../src/answers/source.ts';
import type { AnswerSource } from '../src/answers/source.ts';
import { callTool } from '../src/call/call-tool.ts';
import { asks, done, form, page, startScriptedMcpServer } from '../../../test/servers/scripted-mcp-server.ts';
import type { ScriptedReply, ScriptedMcpServer } from '../../../test/servers/scripted-mcp-server.ts';
import { connectSecond } from './clients.ts';
import type { TestClient } from './clients.ts';

let server: ScriptedMcpServer;
let connected: TestClient;
beforeAll(async () => {
  server = await startScriptedMcpServer();
  connected = await connectSecond(server.url, 'modern');
});
afterAll(async () => {
  await connected.close();
  await server.stop();
});

async function call(answers: AnswerSource, ...moves: ScriptedReply[]) {
  server.play(...moves);
  return callTool(connected.client, { name: 'ask' }, { answers });
}
const lisbon = fixtureAnswers({ fields: { city: 'Lisbon' }, questions: [{ mode: 'url', accept: true }] });
const why = (check: () => void): string => {
  try {
    check();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It passed.');
};

test('all questions count, in their order, by words, pattern, field or mode', async () => {
  const report = await call(
    lisbon,
    asks({ a: form('Which city?') }, 's1'),
    asks({ b: page('https://a.example') }),
  );
  expect(report).toHaveAsked('WHICH city', { mode: 'url' });
  expect(report).toHaveAsked({ field: 'city', message: /^Which/ }, 'page');
  expect(report).not.toHaveAsked('which city');
  expect(report).not.toHaveAsked();
  expect(report).not.toHaveAsked('page', 'which city');
  expect(report).not.toHaveAsked({ field: 'town' }, 'page');
  expect(why(() => expect(report).toHaveAsked('How many?', /b/))).toBe(
    'It was to ask:\n  “How many?”\n  /b/\nIt asked:\n  “Which city?” (a form: city)\n  “Open this page” (a link)',
  );
});

test('a call that asks nothing', async () => {
  const report = await call(lisbon, done('at once'));
  expect(report).toHaveAsked();
  expect(report).toSucceed();
  expect(report).toSucceed('AT ONCE');
  expect(why(() => expect(report).toSucceed('later'))).toBe(
    'It was to succeed with “later”. It ended as "result": at once',
  );
  expect(why(() => expect(report).toHaveAsked('who?'))).toContain('It asked nothing.');
});

test('a failure of the tool, and a question without an answer', async () => {
  const failed = await call(declineAll, { ...done('not today'), isError: true });
  expect(failed).toFail(/not today$/);
  expect(failed).not.toSucceed();
  const unanswered = await call(fixtureAnswers({}), asks({ a: form('Which city?') }));
  expect(unanswered).toHaveAsked('which city');
  expect(unanswered).toFail('Nothing answers “Which city?”');
});

test('anything else is no report', () => {
  expect(() => expect({}).toHaveAsked()).toThrow('This matcher is for what callTool resolves to.');
});
