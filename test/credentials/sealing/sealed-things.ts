/** One of everything that is kept sealed, written as the program writes it, and a look whether it can be read. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { sealAccount, tryOpenAccount } from '../../../src/credentials/mcp-oauth/account.ts';
import { createAttempts, createRecords } from '../../../src/credentials/mcp-oauth/records.ts';
import { openLink, sealLink } from '../../../src/credentials/nango/link.ts';
import {
  openAnswer,
  openCode,
  openEffect,
  openPushTarget,
  openRound,
  sealAnswer,
  sealCode,
  sealEffect,
  sealPushTarget,
  sealRound,
  slackEventContext,
  slackTokenContext,
} from '../../../src/credentials/sealing/sealed-values.ts';
import type { KeyRing } from '../../../src/credentials/sealing/key-ring.ts';
import { openKey, sealKey } from '../../../src/credentials/vault.ts';
import type { ConnectionKey } from '../../../src/storage/schema/account-tables.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { begunTurn, firstAttempt, keptStep } from '../../storage/contract/fixtures.ts';
import { answer, open, question } from '../../storage/contract/question.ts';

export const accountOf = (accessToken: string) => ({
  accessToken,
  obtainedAt: 0,
  connectedAt: 0,
  expiresAt: null,
  serverUrl: 'https://tracker.example/mcp',
  issuer: 'https://tracker.example',
  resource: 'https://tracker.example/mcp',
  client: { kind: 'document' as const, clientId: 'https://interlude.example/auth/client.json' },
});

const attempt = (key: ConnectionKey) => ({
  key,
  serverUrl: 'https://tracker.example/mcp',
  authorizationServer: {
    issuer: 'https://tracker.example',
    authorization_endpoint: 'https://tracker.example/authorize',
    token_endpoint: 'https://tracker.example/token',
    response_types_supported: ['code'],
  },
  client: accountOf('').client,
  resource: 'https://tracker.example/mcp',
  scopes: [],
  redirectUri: 'https://interlude.example/auth/callback/x',
  codeVerifier: 'verifier',
  returnUrl: null,
});

/** Answers whether all of it can be read with these keys; looking takes the attempt away. */
export async function writeOneOfEach(
  storage: Storage,
  keys: KeyRing,
): Promise<(ring: KeyRing) => Promise<string[]>> {
  const { tenant, ...turn } = await begunTurn(storage);
  const at = { tenant, ...turn };
  const oauth = { tenant, server: 'tracker', user: 'alice' };
  await keepAccount(storage, keys, oauth, 'access-token');
  const vault = { tenant, server: 'billing', user: null };
  const rest = { account: null, scopes: [], freshUntil: null };
  const apiKey = { apiKey: 'api-key', serverUrl: 'https://billing.example/mcp' };
  await storage.connections.establish(vault, {
    store: 'vault',
    sealed: sealKey(keys, vault, apiKey),
    ...rest,
  });
  const nango = { tenant, server: 'calendar', user: 'alice' };
  const link = {
    integration: 'calendar',
    connectionId: 'connection',
    attemptId: 'a',
    since: 1,
    serverUrl: 'https://x.example',
  };
  await storage.connections.establish(nango, {
    store: 'nango',
    sealed: sealLink(keys, nango, link),
    ...rest,
  });

  const attemptsWith = (ring: KeyRing) => createAttempts({ oauth: storage.oauth, keys: ring, now: Date.now });
  const state = { state: randomUUID(), sessionHash: randomUUID() };
  await attemptsWith(keys).save({ ...state, elicitationId: null, attempt: attempt(oauth) });
  const record = `server:https://${tenant}.example`;
  await createRecords(storage.oauth, keys).remember(record, 'found out');

  const elicitationId = randomUUID();
  const asked = question(at, { id: elicitationId, server: 'wiki' });
  await open(storage, asked);
  await answer(storage, asked, 'accept', {
    responseId: 'said',
    sealedContent: sealAnswer(keys, elicitationId, 'an answer'),
  });
  await answer(storage, asked, 'accept', { responseId: 'nothing said' });
  await keptStep(storage, at, { calls: [{ toolCallId: 'call', toolName: 'tracker__list', input: {} }] });
  await storage.toolCalls.start(at, 'call', firstAttempt);
  const call = { turnId: at.turnId, toolCallId: 'call' };
  const round = { round: 1, sealed: sealRound(keys, call, 'a round') };
  await storage.toolCalls.keepRound(at, 'call', round, 'paused', firstAttempt);

  const hash = randomUUID();
  const code = { id: hash, kind: 'tools', needs: 1 } as const;
  await storage.workflowCode.keep({ ...code, sealed: sealCode(keys, hash, 'code of tools') });
  const effect = { workflowId: `turn/${at.turnId}/tool/call`, activityId: '1' };
  await storage.toolEffects.claim(effect, { turn: at, name: 'deletePage' });
  await storage.toolEffects.finish(effect, sealEffect(keys, effect, 'an effect'));

  const deliveryId = randomUUID();
  const target = { url: 'https://hooks.example/', token: 'a push token', authentication: null };
  const push = {
    turn: at,
    caller: 'alice',
    id: 'one',
    wire: '1.0',
    isStructured: false,
    position: 1,
  } as const;
  await storage.pushConfigs.put(
    { ...push, deliveryId, sealed: sealPushTarget(keys, deliveryId, target) },
    { perTurn: 10, perCaller: 10 },
  );

  const team = `T${randomUUID()}`;
  const workspace = {
    team,
    teamName: 'Acme',
    tenant: 'acme',
    botUser: 'UBOT',
    scopes: '',
    installedBy: null,
  };
  const token = keys.seal('a bot token', slackTokenContext(team));
  await storage.slack.installations.put({ ...workspace, sealed: token });
  const event = { team, eventId: 'Ev1' };
  const written = keys.seal('what somebody wrote', slackEventContext(event));
  await storage.slack.events.add({ ...event, slackUser: 'U1', lane: 'C1', ts: '1.0', sealed: written });

  return async (ring) => {
    const accountRow = await storage.connections.get(oauth);
    const account = accountRow ? tryOpenAccount(ring, accountRow) : null;
    const entryRow = await storage.connections.get(vault);
    const entry = entryRow ? openKey(ring, entryRow) : null;
    const opened = openLink(ring, await storage.connections.get(nango));
    const answered = await storage.elicitations.recorded(elicitationId, 'said');
    const [kept] = await storage.toolCalls.rounds(at, 'call');
    const claimed = await storage.toolEffects.claim(effect, { turn: at, name: 'deletePage' });
    return [
      account?.kind === 'account' ? account.account.accessToken : '',
      entry?.kind === 'key' ? entry.kept.apiKey : '',
      opened.kind === 'link' ? opened.link.connectionId : '',
      (await attemptsWith(ring).take(state))?.attempt.codeVerifier ?? '',
      (await createRecords(storage.oauth, ring).recall(record, z.string()))?.value ?? '',
      openAnswer(ring, elicitationId, answered?.sealedContent ?? ''),
      openRound(ring, call, kept?.sealed ?? ''),
      openCode(ring, hash, (await storage.workflowCode.get(hash))?.sealed ?? ''),
      openEffect(ring, effect, claimed.kind === 'finished' ? (claimed.sealed ?? '') : ''),
      openPushTarget(ring, deliveryId, (await storage.pushConfigs.ofDelivery(deliveryId))?.sealed ?? '')
        .token,
      ring.open((await storage.slack.installations.get(team))?.sealed ?? '', slackTokenContext(team)),
      ring.open((await slackEvent(storage, team))?.sealed ?? '', slackEventContext(event)),
    ];
  };
}

export const everything = [
  'access-token',
  'api-key',
  'connection',
  'verifier',
  'found out',
  'an answer',
  'a round',
  'code of tools',
  'an effect',
  'a push token',
  'a bot token',
  'what somebody wrote',
];

async function slackEvent(storage: Storage, team: string) {
  const claimed = await storage.slack.events.claim(100, 0);
  return claimed.find((event) => event.team === team);
}

export function keepAccount(
  storage: Storage,
  keys: KeyRing,
  key: ConnectionKey,
  accessToken: string,
): Promise<number> {
  const sealed = sealAccount(keys, key, accountOf(accessToken));
  return storage.connections.establish(key, {
    store: 'oauth',
    sealed,
    account: null,
    scopes: [],
    freshUntil: null,
  });
}
