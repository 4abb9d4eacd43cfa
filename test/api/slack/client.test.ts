/** What a call of Slack's Web API came to, and whether a request is Slack's. */
import { expect, test } from 'vitest';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { slackTokenContext } from '../../../src/credentials/sealing/sealed-values.ts';

import { createSlackClients } from '../../../src/credentials/slack-clients.ts';
import { createSlackClient, troubleOf } from '../../../src/remote/slack.ts';
import { verifySignature } from '../../../src/api/slack/signed.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { sign } from '../../servers/slack/deliver.ts';
import { MethodHttp, MethodRefused } from '../../servers/slack/methods.ts';
import type { Method } from '../../servers/slack/methods.ts';
import { startSlackServer } from '../../servers/slack/slack-server.ts';

test('failures of a call are told apart, and none is tried again behind the caller’s back', async () => {
  await using slack = await startSlackServer();
  const acme = slack.addWorkspace('T1', 'Acme');
  const client = createSlackClient(`${slack.url}/api/`, acme.botToken);
  expect(await client.auth.test()).toMatchObject({ team_id: 'T1', user_id: acme.botUser });
  const trouble = async (method: Method) => {
    slack.methods.set('chat.postMessage', method);
    return troubleOf(
      await client.chat.postMessage({ channel: 'C1', text: 'hello' }).catch((error: unknown) => error),
    );
  };
  const refused =
    (code: string): Method =>
    () => {
      throw new MethodRefused(code);
    };
  expect(await trouble(() => new MethodHttp(429, { 'retry-after': '7' }))).toEqual({
    kind: 'rate-limited',
    retryAfterMs: 7_000,
  });
  expect(await trouble(() => new MethodHttp(503))).toEqual({ kind: 'unavailable' });
  expect(await trouble(refused('internal_error'))).toEqual({ kind: 'unavailable' });
  expect(await trouble(refused('channel_not_found'))).toEqual({ kind: 'refused', code: 'channel_not_found' });
  const garbage = ['<html>We are back soon</html>', '{"ok":tru', 'null', '{}', '', '{"ok":false,"error":{}}'];
  for (const body of garbage)
    expect(await trouble(() => new MethodHttp(200, {}, body)), body).toEqual({ kind: 'unavailable' });
  expect(await trouble(() => new MethodHttp(500, {}, '<html>'))).toEqual({ kind: 'unavailable' });
  expect(await trouble(() => new MethodHttp(429))).toEqual({ kind: 'unavailable' });
  for (const [seconds, retryAfterMs] of [
    ['-5', 1_000],
    ['0', 1_000],
    ['999999999999', 3_600_000],
  ] as const)
    expect(await trouble(() => new MethodHttp(429, { 'retry-after': seconds }))).toEqual({
      kind: 'rate-limited',
      retryAfterMs,
    });
  expect(slack.calls.filter(({ method }) => method === 'chat.postMessage')).toHaveLength(15);
  const nobody = createSlackClient('http://127.0.0.1:1/api/', 'xoxb-1');
  expect(troubleOf(await nobody.auth.test().catch((error: unknown) => error))).toEqual({
    kind: 'unavailable',
  });
});

test('each workspace is spoken to with its own token, and one without the app not at all', async () => {
  await using slack = await startSlackServer();
  const keys = parseKeys(generateKey('k1'));
  const get = async (team: string) => {
    const { name, botUser, botToken } = slack.workspaces.get(team) ?? {};
    if (botToken === undefined || name === undefined || botUser === undefined) return null;
    const sealed = keys.seal(botToken, slackTokenContext(team));
    return { team, teamName: name, tenant: 'acme', botUser, scopes: '', installedBy: null, sealed };
  };
  const storage = { slack: { installations: { get } } } as unknown as Pick<Storage, 'slack'>;
  const clients = createSlackClients({ storage, keys, apiUrl: `${slack.url}/api/` });
  for (const team of ['T1', 'T2']) {
    slack.addWorkspace(team);
    const workspace = await clients.of(team);
    expect(await workspace?.client.auth.test()).toMatchObject({ team_id: team });
    expect(JSON.stringify(workspace)).not.toContain('sealed');
  }
  expect(await clients.of('T3')).toBeNull();
});

test('a request is Slack’s when its bytes are signed, and not long ago', () => {
  const body = Buffer.from('{"a":1}');
  const at = 1_700_000_000;
  const signed = { body, timestamp: String(at), signature: sign('secret', String(at), '{"a":1}') };
  const verdict = (change = {}, now = at) => verifySignature('secret', { ...signed, ...change }, now * 1000);
  expect(verdict()).toBe('signed');
  for (const now of [at + 300, at - 300]) expect(verdict({}, now)).toBe('signed');
  for (const now of [at + 301, at - 301]) expect(verdict({}, now)).toBe('stale');
  for (const change of [
    { body: Buffer.from('{"a":2}') },
    { timestamp: String(at + 1) },
    { timestamp: undefined },
    { timestamp: '1e9' },
    { signature: undefined },
    { signature: signed.signature.toUpperCase() },
    { signature: 'v0=00' },
    { signature: sign('other', String(at), '{"a":1}') },
  ])
    expect(verdict(change), JSON.stringify(change)).toBe('forged');
});
