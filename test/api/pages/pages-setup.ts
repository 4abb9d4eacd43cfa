/** The pages on a real port, with a real database, a real identity provider and the real credential store. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fastifyFactory from 'fastify';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { demoLoginClient } from '../../../demo/identity.ts';
import { listen } from '../../../demo/listen.ts';
import { connectPages } from '../../../src/api/pages/route.ts';
import type { PagesParts } from '../../../src/api/pages/route.ts';
import type { AgentConfig, Config, NangoConfig, ServerConfig } from '../../../src/platform/config/config.ts';
import { createAccounts, createOAuthClient, createMayChange } from '../../../src/service/accounts.ts';
import { createConfirmConnection } from '../../../src/service/confirm-connection.ts';
import type { AccountsParts } from '../../../src/service/accounts.ts';
import type { ConfirmConnection } from '../../../src/service/confirm-connection.ts';
import { createAuthenticate, createRecordRefusal } from '../../../src/service/authenticate.ts';
import { createOpenPayloads } from '../../../src/service/open-payloads.ts';
import { environmentSchema } from '../../../src/platform/config/environment-schema.ts';
import { limitsFrom } from '../../../src/platform/config/limits.ts';
import { createLimits } from '../../../src/service/limits.ts';
import { createOperators } from '../../../src/service/operators.ts';
import { createSealedText } from '../../../src/service/sealed-text.ts';
import { refusingWhileDatabaseIsAway } from '../../../src/service/database-away.ts';
import { createOwnApprovals } from '../../../src/service/approvals.ts';
import { answeredBy, questionsOf } from '../../../src/service/questions.ts';
import { createOwnConnections } from '../../../src/service/connections.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { openStores } from '../../../src/credentials/stores.ts';
import { toConfirmed } from '../../../src/service/nango-attempts.ts';
import type { Action, ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { ConnectionKey } from '../../../src/storage/schema/account-tables.ts';
import type { ElicitationRow } from '../../../src/storage/schema/question-tables.ts';
import { serverConfig } from '../../credentials/guarded-server.ts';
import { Browser } from './browser.ts';
import type { Shown } from './browser.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';
import { startIdentity } from '../../service/identity.ts';
import { refuseWhileBusy } from '../../storage/contract/fixtures.ts';
import { question as newQuestion } from '../../storage/contract/question.ts';
import { endQuestion } from '../../storage/end-question.ts';

const remote = openRemoteServers();

const assistant: AgentConfig = {
  name: 'assistant',
  title: 'Assistant',
  description: '',
  model: 'scripted:demo',
  images: false,
  instructions: '',
  modelSettings: {},
  servers: [{ name: 'tracker' }],
  agents: [],
  maxSteps: 20,
};

export interface Asked {
  id?: string;
  tenant?: string;
  user?: string;
  request?: Partial<ElicitationRequest>;
  deadline?: number;
  server?: string | null;
}

type PagesChanges = Partial<PagesParts> & {
  stores?: Partial<AccountsParts['stores']>;
};

export async function setUpPages(
  server: ServerConfig = serverConfig('http://127.0.0.1:9/mcp'),
  { stores: givenStores, ...more }: PagesChanges = {},
  moreServers: ServerConfig[] = [],
  changesOfHttp: Partial<PagesParts['config']['http']> = {},
  nango?: NangoConfig,
  auth: Partial<PagesParts['config']['auth']> = {},
) {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-connect-'));
  const file = path.join(folder, 'test.db');
  const storage = await openStorage({ kind: 'sqlite', path: file });
  const listener = createServer();
  const { port, stop } = await listen(listener, 0, 'PORT');
  const publicUrl = `http://127.0.0.1:${port}`;
  const identity = await startIdentity({
    port: 0,
    dataDir: folder,
    redirectUris: [`${publicUrl}/auth/login/callback`],
  });
  const keys = parseKeys(generateKey('k1'));
  const answers: { id: string; action: Action; user: string }[] = [];
  const confirmed: [key: ConnectionKey, version: number][] = [];
  const log: string[] = [];

  const servers = new Map([[server.name, server], ...moreServers.map((one) => [one.name, one] as const)]);
  const logger = pino({ level: 'info' }, { write: (line) => log.push(line) });
  const confirm = createConfirmConnection(storage);
  const confirmConnection: ConfirmConnection = async (connection) => {
    await confirm(connection);
    confirmed.push([connection.key, await storage.connections.lastVersion(connection.key)]);
  };
  const mayChange = createMayChange(storage);
  const app = fastifyFactory({
    serverFactory: (handler) => listener.on('request', handler),
    logger: { level: 'info', stream: { write: (line) => log.push(line) } },
  });
  const http = {
    port,
    host: '127.0.0.1',
    publicUrl,
    trustProxy: false,
    corsOrigins: [],
    allowedHosts: [],
    returnUrls: [],
    bodyLimit: 10_000,
    ...changesOfHttp,
  };
  const limits = limitsFrom(environmentSchema.parse({ RATE_LIMIT_PER_MINUTE: '100000' }));
  const stores = await openStores({
    config: { http, nango, servers, secret: () => undefined },
    storage,
    keys,
    listTools: remote.listTools,
    confirmFound: (found) => confirm(toConfirmed(found, null)),
    logger,
  });
  const temporal = { namespace: 'default', uiUrl: 'https://temporal.example' };
  const operators = createOperators({
    storage,
    config: { temporal: temporal as Config['temporal'], traceUrl: undefined },
    keys,
    logger,
  });
  const recordRefusal = createRecordRefusal(storage.audit);
  const parts = {
    config: {
      http,
      limits,
      temporal,
      auth: {
        issuer: identity.issuer,
        audience: 'interlude',
        tenantClaim: 'tenant',
        operator: undefined,
        client: { id: demoLoginClient, secret: undefined },
        program: undefined,
        ...auth,
      },
      agents: new Map([['assistant', assistant]]),
      servers,
      nango,
    },
    accounts: createAccounts({
      config: { servers },
      storage,
      stores: { ...stores, ...givenStores },
      mayChange,
      confirmConnection,
      logger,
    }),
    oauthClient: createOAuthClient({ http, servers }),
    recordRefusal,
    operators,
    openPayloads: createOpenPayloads({ keys, operators }),
    authenticate: createAuthenticate({ auth: undefined, apiKeys: storage.apiKeys, recordRefusal }),
    sealedText: createSealedText(keys),
    endedSessions: storage.endedSessions,
    limits: createLimits({ counts: storage.counts, limits }),
    now: () => storage.now(),
    questionsOf: (principal) => questionsOf(storage, principal),
    answeredBy: (principal) => answeredBy(storage, principal),
    connections: createOwnConnections({ config: { servers }, storage, stores, mayChange, logger }),
    approvals: createOwnApprovals({ config: { servers, agents: new Map() }, storage }),
    mayChange,
    answer: async (principal, { elicitationId, response: { action } }) => {
      answers.push({ id: elicitationId, action, user: principal.kind === 'user' ? principal.user : '' });
      await endQuestion(storage, elicitationId, action);
      return { kind: 'recorded', outcome: action, duplicate: false };
    },
    logger,
    ...more,
  } satisfies PagesParts;
  await app.register(connectPages, refusingWhileDatabaseIsAway(parts));
  await app.ready();

  onTestFinished(async () => {
    await stop();
    await app.close();
    await identity.stop();
    await storage.close();
    await rm(folder, { recursive: true });
  });

  async function ask({
    id = 'q1',
    tenant = 'demo',
    user = 'alice',
    request,
    deadline,
    server: of = 'tracker',
  }: Asked = {}) {
    const turn = { tenant, conversation: `c-${id}`, turnId: `t-${id}`, agent: 'assistant', user };
    const capabilities = { url: true, form: true };
    await storage.turns.prepare(
      { ...turn, capabilities, clientMessageId: 'm1', messages: [] },
      refuseWhileBusy,
    );
    await storage.turns.begin(turn);
    const question = {
      mode: 'url',
      url: link(id),
      message: 'Tracker needs your account to run List issues.',
      context: {
        trigger: 'credential_required',
        agent: 'assistant',
        server: 'tracker',
        serverTitle: server.title,
        host: 'tracker.example.com',
        toolName: 'list_issues',
        reason: 'missing',
        scopes: ['issues:read'],
      },
      ...request,
    } as ElicitationRequest;
    await storage.elicitations.open(
      [
        newQuestion(turn, {
          id,
          user,
          request: question,
          server: of,
          seenVersion: of === null ? null : 0,
          ...(deadline !== undefined && { expiresAt: deadline }),
        }),
      ],
      { perUser: 20 },
    );
    const row: ElicitationRow | null = await storage.elicitations.get(id);
    if (!row) throw new Error('the question was not opened');
    return row;
  }

  const link = (id: string) => `${publicUrl}/auth/connect?e=${id}`;

  return {
    publicUrl,
    identity,
    storage,
    keys,
    stores,
    answers,
    confirmed,
    confirmConnection,
    log,
    ask,
    link,
    /** Opens the link and signs in on the way. */
    async openAs(
      user: string,
      id = 'q1',
      browser = new Browser(),
    ): Promise<{ browser: Browser; page: Shown }> {
      const signIn = await browser.open(link(id));
      return { browser, page: await browser.press(signIn, { user }) };
    },
    /** Everything the database holds, to prove that nothing changed. */
    dump(): Record<string, unknown[]> {
      const database = new DatabaseSync(file, { readOnly: true });
      const tables = database
        .prepare(`select name from sqlite_master where type = 'table' order by name`)
        .all();
      const rows = tables.map(
        ({ name }) => [String(name), database.prepare(`select * from "${String(name)}"`).all()] as const,
      );
      database.close();
      return Object.fromEntries(rows);
    },
  };
}
