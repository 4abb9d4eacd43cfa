/** Signing in from an editor: in the browser, at the issuer of a real service. */
import { methods } from '@agentclientprotocol/sdk';
import { decodeJwt } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { createAgentV1 } from '../../src/acp/agent-v1.ts';
import { Identity } from '../../src/acp/identity.ts';
import { createKeptLogins, loginsFolder } from '@interlude-ai/kit/terminal/kept-files.ts';
import { demoProgramClient } from '../../src/login/demo-token.ts';
import { startApi } from '../../../../test/api/api-under-test.ts';
import { Browser } from '../../../../test/api/pages/browser.ts';
import { freePort } from '../../../../test/free-port.ts';
import { testFolder } from '../../../../test/test-folder.ts';
import { playEditor } from './editor.ts';

const { authenticate, logout, session } = methods.agent;

test('authenticate opens the browser, the editor acts as who signed in there, and logout forgets it', async () => {
  const port = await freePort();
  const service = `http://127.0.0.1:${port}`;
  const api = await startApi({ env: { PUBLIC_URL: service, AUTH_PROGRAM_CLIENT_ID: demoProgramClient } });
  onTestFinished(() => api.stop());
  await api.app.listen({ port, host: '127.0.0.1' });
  const logins = createKeptLogins(loginsFolder({ XDG_CONFIG_HOME: testFolder() }));
  let said = '';
  const identity = new Identity({
    service,
    logins,
    token: undefined,
    tokenFile: undefined,
    as: undefined,
    say: (text) => (said += text),
    open: (url) => void signInAs('bob', url),
  });
  const editor = await playEditor(createAgentV1({ service, identity, agent: undefined, version: '1' }));
  expect(editor.hello.authMethods).toMatchObject([{ id: 'browser-login' }]);
  await expect(editor.agent.request(authenticate, { methodId: 'other' })).rejects.toMatchObject({
    code: -32602,
  });
  await editor.agent.request(authenticate, { methodId: 'browser-login' });
  expect(said).toContain('Sign in in your browser');
  expect(logins.read(service)).toMatchObject({ name: 'Bob' });
  expect((await editor.agent.request(session.list, {})).sessions).toEqual([]);
  expect(decodeJwt(await identity.token()).sub).toBe('bob');
  await editor.agent.request(logout, {});
  expect(logins.read(service)).toBeNull();
  editor.close();
});

async function signInAs(user: string, url: string): Promise<void> {
  const browser = new Browser();
  await browser.press(await browser.open(url), { user });
}
