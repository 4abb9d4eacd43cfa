/**
 * After a whole day of connecting, asking and failing, with the program as it runs in production (an API process and a
 * worker, both logging all they can), every secret of that day is looked for wherever traces stay.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateKey } from '../../src/credentials/sealing/key-ring.ts';
import { startTemporalServer } from '../../src/platform/development/temporal-server.ts';
import { createDeployment } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import { freePort } from '../free-port.ts';
import { openNangoDouble } from '../servers/nango/nango-double.ts';
import { openProtectedMcp } from '../servers/nango/protected-mcp.ts';
import { startOtlpReceiver } from '../platform/telemetry/otlp-receiver.ts';
import type { OtlpReceiver } from '../platform/telemetry/otlp-receiver.ts';
import { startModelServer, startSignInServer, startToolServer } from './secrets/quoting-servers.ts';
import type { Peer } from './secrets/quoting-servers.ts';
import { columnsWith, readFiles, readHistories } from './secrets/places.ts';
import type { Histories } from './secrets/places.ts';
import { recordFetch } from './secrets/recorder.ts';
import type { Received } from './secrets/recorder.ts';
import { acmeByNango, badRequests, boxWithKey, lockerInTrouble, lockerWithForm } from './secrets/run.ts';
import type { Cast } from './secrets/run.ts';
import { createSecrets, spellings } from './secrets/secrets.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/secrets-agents.yaml', import.meta.url));
const secrets = createSecrets();
const stack = new AsyncDisposableStack();
let deployment: Deployment;
let cast: Cast;
let peers: Record<string, Peer>;
let nangoLines: string[];
let received: Received[];
/** Taken down on the way and at the end. */
const histories: Histories[] = [];
let logs: string;
let collector: OtlpReceiver;
let questionIds: string[];
let temporalFolder: string;
/** Of both processes. */
let metrics: string;

beforeAll(async () => {
  const temporalPort = await freePort();
  const address = `127.0.0.1:${temporalPort}`;
  const goodKey = secrets.mint('api key');
  const teamKey = secrets.mint('team key');
  const signIn = await startSignInServer(secrets);
  const locker = await startToolServer({
    signIn,
    lets: ({ authorization, 'x-team-key': team }) => signIn.isCurrent(authorization) && team === teamKey,
  });
  const box = await startToolServer({ lets: ({ 'x-api-key': key }) => key === goodKey });
  const model = await startModelServer();
  const nango = await openNangoDouble({ tokenLifeMs: 60_000 });
  const acme = await openProtectedMcp(nango.provider);
  for (const peer of [signIn, locker, box, model, nango, acme]) stack.defer(() => peer.stop());
  collector = await startOtlpReceiver();
  stack.defer(() => collector.stop());
  const recorder = recordFetch(({ url, headers }) => {
    const authorization = headers.get('authorization');
    if (authorization !== null && url.startsWith(deployment.baseUrl))
      secrets.note('bearer token', authorization.replace('Bearer ', ''));
  });
  stack.defer(() => recorder[Symbol.dispose]());

  const ring = generateKey('k1');
  secrets.note('encryption key', ring.slice('k1:'.length));
  deployment = await createDeployment({
    env: {
      INTERLUDE_CONFIG: agentsFile,
      INTERLUDE_KEYS: ring,
      TEMPORAL_ADDRESS: address,
      LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRICS_EXPORTER: 'prometheus,otlp',
      OTEL_METRIC_EXPORT_INTERVAL: '5000',
      LOCKER_URL: locker.url,
      TEAM_KEY: teamKey,
      BOX_URL: box.url,
      ACME_URL: acme.url,
      MODEL_URL: `${model.origin}/v1`,
      MODEL_KEY: secrets.mint('model key'),
      NANGO_HOST: nango.host,
      NANGO_API_KEY: secrets.note('nango api key', nango.apiKey),
      NANGO_WEBHOOK_SIGNING_KEY: secrets.note('nango signing key', nango.webhookSigningKey),
    },
  });
  stack.defer(() => deployment.stop());
  secrets.note('nango client secret', nango.provider.clientSecret);
  nango.webhookUrl = `${deployment.baseUrl}/webhooks/nango`;
  temporalFolder = `${deployment.dataDir}/temporal`;
  const temporal = await startTemporalServer({
    temporal: { namespace: 'default', port: temporalPort, uiPort: await freePort() },
    dataDir: temporalFolder,
    logger: pino({ level: 'silent' }),
  });
  stack.defer(() => temporal.stop());
  const internalPorts = [await freePort(), await freePort()];
  const [api, worker] = await Promise.all(
    (['server', 'worker'] as const).map((entry, index) =>
      deployment.start(entry, { INTERNAL_PORT: String(internalPorts[index]) }),
    ),
  );

  const lookAtTemporal = async () => void histories.push(await readHistories(address));
  cast = { deployment, secrets, signIn, locker, box, nango, goodKey, lookAtTemporal };
  peers = { 'sign-in server': signIn, locker, box, model };
  try {
    await spendTheDay();
  } catch (error) {
    process.stderr.write(`${deployment.output()}\n`);
    throw error;
  }

  await recorder.settled();
  ({ received } = recorder);
  for (const { headers } of ours()) noteCookies(headers);
  nangoLines = nango.requests.map(({ method, path: asked }) => `${method} ${asked}`);
  await lookAtTemporal();
  logs = `${api?.output()}\n${worker?.output()}`;
  const scraped = internalPorts.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  metrics = (await Promise.all(scraped)).join('\n');
}, 180_000);
afterAll(() => stack.disposeAsync());

async function spendTheDay(): Promise<void> {
  const alice = await deployment.caller('alice');
  questionIds = await lockerWithForm(cast, alice);
  await lockerInTrouble(cast, alice);
  await boxWithKey(cast, alice);
  await acmeByNango(cast, alice);
  await badRequests(cast, alice);
}

/** What the service keeps as it is, because it is the conversation: the columns that may have it, and no others. */
const conversation = {
  message: ['messages.content'],
  'tool input': ['messages.content', 'tool_calls.input', 'turn_events.event'],
  'tool output': ['messages.content', 'turn_events.event'],
  question: ['elicitations.request', 'turn_events.event'],
};
const spoken = Object.keys(conversation);

const ours = () => received.filter(({ url }) => url.origin === deployment.baseUrl);
const leaksIn = (some: Received[], find: (one: Received) => string[]) =>
  some.flatMap((one) =>
    find(one).map((name) => `${one.method} ${one.url.pathname} (${one.status}): ${name}`),
  );
const namesIn = (text: string | Buffer, ...allowed: string[]) =>
  secrets.foundIn(text).filter((name) => !allowed.includes(name));

describe('the day', () => {
  test('went as it was meant to', () => {
    expect(cast.locker.calls.length).toBeGreaterThanOrEqual(4);
    expect(cast.signIn.refusedRefreshes).toBe(1);
    expect(cast.box.calls).toHaveLength(1);
    const seen = secrets.names();
    for (const name of wanted) expect(seen).toContain(name);
    for (const { lines } of Object.values(peers)) expect(lines.length).toBeGreaterThan(0);
    const statuses = new Set(ours().map(({ status }) => status));
    for (const status of [200, 303, 400, 401, 422, 502]) expect(statuses).toContain(status);
    const last = histories.at(-1);
    expect(last?.runs).toBeGreaterThanOrEqual(7);
    expect([...(last?.types ?? [])]).toEqual(['agentTurn']);
    for (const id of questionIds) for (const text of [last?.text, logs]) expect(text).toContain(id);
  });
});

/** So that a step that was left out is noticed. */
const wanted = [
  'access token',
  'refresh token',
  'authorization code',
  'client secret',
  'code verifier',
  'state',
  'login state',
  'login code',
  'session cookie',
  'sign-in cookie',
  'csrf token',
  'bearer token',
  'form answer',
  'wrong answer',
  'server state',
  'api key',
  'refused api key',
  'nango access token',
  'nango refresh token',
  'nango session token',
  'webhook content',
  'service api key',
  'malformed request',
];

describe('no secret is found', () => {
  test('in what the processes have logged, at the most talkative level', () => {
    expect(logs).toContain('"level":20');
    expect(namesIn(logs)).toEqual([]);
  });

  test('in the history of any run, nor beside it', () => {
    expect(histories.flatMap(({ text }) => namesIn(text))).toEqual([]);
  });

  test('in any byte that Temporal has kept', async () => {
    const bytes = await readFiles(temporalFolder, 'temporal');
    for (const id of questionIds) expect(bytes.includes(id)).toBe(true);
    expect(namesIn(bytes)).toEqual([]);
  });

  test('in any byte of the database but those of the conversation itself', async () => {
    const bytes = await readFiles(path.join(deployment.dataDir, 'interlude'), 'interlude.db');
    for (const id of questionIds) expect(bytes.includes(id)).toBe(true);
    expect(namesIn(bytes, ...spoken)).toEqual([]);
  });

  test('in any column but those that keep the conversation', () => {
    const found = columnsWith(path.join(deployment.dataDir, 'interlude', 'interlude.db'), secrets);
    expect(found).toEqual(conversation);
  });

  test('in what problem documents say', () => {
    const problems = ours().filter(({ headers }) =>
      contentType(headers).startsWith('application/problem+json'),
    );
    expect(problems.length).toBeGreaterThan(5);
    expect(leaksIn(problems, ({ body }) => namesIn(body))).toEqual([]);
  });

  test('in what pages say, but the token of their forms and the way to the provider', () => {
    const pages = ours().filter(({ headers }) => contentType(headers).startsWith('text/html'));
    const leads = ({ body }: Received) => /http-equiv="refresh"/i.test(body);
    expect(pages.filter(leads).length).toBeGreaterThan(3);
    const allowed = (page: Received) => (leads(page) ? ['state', 'nango session token'] : ['csrf token']);
    expect(leaksIn(pages, (page) => namesIn(page.body, ...allowed(page)))).toEqual([]);
  });

  test('in what clients are sent but the conversation', () => {
    const isOther = ({ headers }: Received) =>
      !/^(text\/html|application\/problem)/.test(contentType(headers));
    const others = ours().filter(isOther);
    expect(others.some(({ body }) => secrets.foundIn(body).includes('tool output'))).toBe(true);
    expect(leaksIn(others, ({ body }) => namesIn(body, ...spoken))).toEqual([]);
  });

  test('in the headers of our answers, but for the way to the sign-in and the cookies themselves', () => {
    const allowedIn: Record<string, string[]> = {
      location: ['login state', 'login nonce'],
      'set-cookie': ['session cookie', 'sign-in cookie'],
    };
    const inHeaders = ({ headers }: Received) =>
      headers.flatMap(([name, value]) =>
        namesIn(value, ...(allowedIn[name] ?? [])).map((secret) => `${name}: ${secret}`),
      );
    expect(leaksIn(ours(), inHeaders)).toEqual([]);
  });

  test('in any address, but for what a provider and the way back from it have to know', () => {
    const inAddress = ({ url }: Received) => {
      const isWayBack = /^\/auth\/(login\/callback|callback\/[\w-]{22})$/.test(url.pathname);
      const isProvider = url.origin !== deployment.baseUrl;
      return namesIn(
        url.href,
        ...(isWayBack || isProvider ? ['authorization code', 'state', 'login code', 'login state'] : []),
        ...(isProvider ? ['login nonce'] : []),
        ...(url.origin === cast.nango.host ? ['nango session token'] : []),
      );
    };
    expect(received.filter(({ url }) => secrets.foundIn(url.href).length > 0).length).toBeGreaterThan(5);
    expect(leaksIn(received, inAddress)).toEqual([]);
  });

  test('in the first line of any request that other servers got from us', () => {
    for (const [name, { lines }] of Object.entries(peers)) {
      const fromUs = lines.filter((line) => !line.startsWith('GET /authorize'));
      expect(fromUs.length).toBeGreaterThan(0);
      expect([name, namesIn(fromUs.join('\n'))]).toEqual([name, []]);
    }
    const fromUs = nangoLines.filter((line) => !line.includes(' /oauth/'));
    expect(fromUs.length).toBeGreaterThan(3);
    expect(namesIn(fromUs.join('\n'))).toEqual([]);
  });

  test('in any byte of the traces and metrics that were exported', async () => {
    const names = ['chat scripted', 'elicitation.requested', 'elicitation.completed', 'POST', 'GET'];
    // Metrics are sent every five seconds.
    await collector.until(
      (spans) =>
        questionIds.every((id) => spans.some(({ attributes }) => attributes['elicitationId'] === id)) &&
        names.every((wanted) => spans.some(({ name }) => name === wanted)) &&
        collector.bytes().includes('interlude.questions.settled'),
    );
    expect(namesIn(collector.bytes())).toEqual([]);
  });

  test('in metrics, whose labels name no person, tenant, conversation or tool of a server either', () => {
    for (const name of ['interlude_questions_settled_total', 'temporal_activity_execution_latency_seconds'])
      expect(metrics).toContain(name);
    expect(namesIn(metrics)).toEqual([]);
    for (const word of ['alice', 'list_issues', ...questionIds]) expect(metrics).not.toContain(word);
    expect(metrics).not.toMatch(/[{,](?:tenant|conversation)="/);
  });
});

describe('the search itself', () => {
  test.each(['plain', 'in a Basic header', 'as hex', 'in a query', 'percent-encoded to the last letter'])(
    'finds a secret %s',
    (how) => {
      const own = createSecrets();
      const value = own.mint('probe');
      const text = {
        plain: `before ${value} after`,
        'in a Basic header': Buffer.from(`a-client:${value}:more`).toString('base64'),
        'as hex': Buffer.from(`x${value}y`).toString('hex'),
        'in a query': new URLSearchParams({ a: `(${value})` }).toString(),
        'percent-encoded to the last letter': spellings(value).find((one) => /^(%[0-9a-f]{2})+$/.test(one)),
      }[how];
      expect(own.foundIn(`… ${text} …`)).toEqual(['probe']);
      expect(own.foundIn('nothing of it')).toEqual([]);
    },
  );
});

function contentType(headers: [string, string][]): string {
  return headers.find(([name]) => name === 'content-type')?.[1] ?? '';
}

function noteCookies(headers: [string, string][]): void {
  for (const [name, line] of headers) {
    const [, cookie = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (name === 'set-cookie' && value !== '')
      secrets.note(cookie.endsWith('-session') ? 'session cookie' : 'sign-in cookie', value);
  }
}
