/** A server that wants another credential between two rounds: the account is connected first, then the answers go out. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { definitionOf } from '../../src/activities/approval.ts';
import type { ServerConfig } from '../../src/platform/config/config.ts';
import { identityOf } from '../../src/remote/server-name.ts';
import { startAuthorizationServer } from '../credentials/authorization-server.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import { signIn } from '../service/connect-account.ts';
import { city, useAskingService } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';

const path = '/.well-known/oauth-protected-resource/mcp';
let authorization: Awaited<ReturnType<typeof startAuthorizationServer>> | undefined;
afterAll(() => authorization?.stop());
/** What the server thinks of the next call. */
let guard: 'usual' | 'forgets-token' | 'wants-scope' = 'usual';
beforeEach(() => void (guard = 'usual'));

const setup = useAskingService({
  env: { ASKING_SCOPE: 'user', ASKING_APPROVAL: 'always' },
  letsIn,
  on: {
    GET: async (_, response, { headers: { host }, url }) => {
      if (url !== path) return void response.writeHead(404).end();
      const resource = `http://${host}/mcp`;
      authorization ??= await startAuthorizationServer({ resource: () => resource });
      const document = {
        resource,
        authorization_servers: [authorization.issuer],
        scopes_supported: ['issues:read'],
      };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    },
  },
});

async function letsIn(response: ServerResponse, { headers }: IncomingMessage): Promise<boolean> {
  const bearer = headers.authorization?.replace('Bearer ', '') ?? 'none';
  if (guard === 'forgets-token') {
    guard = 'usual';
    await authorization?.lose('AccessToken', bearer);
  }
  const token = await authorization?.provider.AccessToken.find(bearer);
  const refuse = (status: 401 | 403, error: string) => {
    const challenge = `Bearer error="${error}", scope="issues:write", resource_metadata="http://${headers.host}${path}"`;
    response.writeHead(status, { 'www-authenticate': challenge }).end();
    return false;
  };
  if (!token?.isValid) return refuse(401, 'invalid_token');
  if (guard === 'wants-scope' && !token.scopes.has('issues:write')) return refuse(403, 'insufficient_scope');
  return true;
}

async function connect(turn: AskedTurn, n: number): Promise<void> {
  const browser = openBrowser();
  const page = await signIn(browser, 'alice', (await turn.question(n)).url);
  await browser.press(page, 'Connect');
}

/** Alice has approved the tool permanently, unless the test is about that. */
const inAdvance = () => ({
  id: 'in-advance',
  tenant: 'demo',
  user: 'alice',
  server: 'asking',
  place: identityOf({ url: setup.server.url } as ServerConfig),
  tool: 'ask',
  definition: definitionOf({ name: 'ask', inputSchema: { type: 'object' }, annotations: {} }),
  conversation: null,
});
beforeAll(() => setup.service.storage.approvals.remember(inAdvance()));

const steps = [asks({ one: form('One') }, 's1'), asks({ two: form('Two') }, 's2')];
const sent = () =>
  setup.server.calls.map(({ params: { inputResponses, requestState } }) => [
    requestState,
    ...Object.values(inputResponses ?? {}).map(({ content }) => content?.['city']),
  ]);

test('an account that must be connected first is asked for before anything else', async () => {
  const turn = await setup.begin(steps);
  expect(await turn.question(0)).toMatchObject({
    context: { trigger: 'credential_required', reason: 'missing', toolCallId: expect.any(String) },
  });
  await connect(turn, 0);
  await turn.answerTo('One', city('Rome'));
  await turn.answerTo('Two', city('Oslo'));
  expect(await turn.end()).toMatchObject({ text: 'done' });
  expect(sent()).toEqual([[undefined], ['s1', 'Rome'], ['s2', 'Oslo']]);
});

test('an account that was taken back while the user was thinking is connected again, then the answers go out', async () => {
  const turn = await setup.begin(steps);
  await turn.question(0);
  guard = 'forgets-token';
  await turn.answerTo('One', city('Rome'));
  expect(await turn.question(1)).toMatchObject({
    mode: 'url',
    context: { trigger: 'credential_required', reason: 'rejected' },
  });
  expect(sent()).toEqual([[undefined]]);
  await connect(turn, 1);
  await turn.answerTo('Two', city('Oslo'));
  const { text, questions } = await turn.end();
  expect(text).toBe('done');
  expect(questions).toHaveLength(3);
  expect(sent()).toEqual([[undefined], ['s1', 'Rome'], ['s2', 'Oslo']]);
});

test('more permissions are asked for between the rounds, and then the answers go out as they were', async () => {
  const turn = await setup.begin(steps);
  await turn.question(0);
  guard = 'wants-scope';
  await turn.answerTo('One', city('Rome'));
  expect(await turn.question(1)).toMatchObject({
    mode: 'url',
    context: {
      trigger: 'credential_required',
      reason: 'insufficient_scope',
      scopes: ['issues:write'],
    },
  });
  expect(sent()).toEqual([[undefined]]);
  await connect(turn, 1);
  await turn.answerTo('Two', city('Oslo'));
  expect(await turn.end()).toMatchObject({ text: 'done' });
  expect(sent()).toEqual([[undefined], ['s1', 'Rome'], ['s2', 'Oslo']]);
});

test('a call that was approved and then needs another connection needs no second approval', async () => {
  await setup.service.storage.approvals.withdraw(inAdvance(), 'in-advance');
  guard = 'forgets-token';
  const turn = await setup.begin([], { input: { issue: 7 } });
  expect(await turn.question(0)).toMatchObject({ context: { trigger: 'approval' } });
  await turn.answer(0, { action: 'accept' });
  expect(await turn.question(1)).toMatchObject({ context: { trigger: 'credential_required' } });
  expect(setup.server.calls).toEqual([]);
  await connect(turn, 1);
  const { text, questions } = await turn.end();
  expect(text).toBe('done');
  expect(questions).toHaveLength(2);
  expect(setup.server.calls.map(({ params }) => params.arguments)).toEqual([{ issue: 7 }]);
  await setup.service.storage.approvals.remember({ ...inAdvance(), id: 'in-advance-again' });
});

test('whoever declines to connect has not given the server their answers', async () => {
  const turn = await setup.begin(steps);
  await turn.question(0);
  await setup.service.storage.connections.remove({ tenant: 'demo', server: 'asking', user: 'alice' });
  await turn.answerTo('One', city('Rome'));
  await turn.answer(1, { action: 'decline' });
  expect((await turn.end()).error).toContain('chose not to');
  expect(sent()).toEqual([[undefined]]);
});
