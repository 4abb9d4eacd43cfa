/** Where races take place: the service in this process, or two API and two worker processes with PostgreSQL. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { WorkflowClient } from '@temporalio/client';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import { someKeys } from '../e2e/deployment.ts';
import { startInstallation } from '../operations/installation.ts';
import type { Installation } from '../operations/installation.ts';
import { postgresUrl } from '../postgres.ts';
import { useService } from '../service/use-service.ts';
import { createCaller } from '../service/user.ts';
import type { Caller } from '../service/user.ts';
import { startDesk } from './desk.ts';
import type { Desk } from './desk.ts';

/** Its fields are there once the tests run. */
export interface Site {
  desk: Desk;
  storage: Storage;
  workflows: WorkflowClient;
  /** Alice at each of the APIs. */
  callers: [Caller, ...Caller[]];
  /** Numbers of the agents whose two accounts no round uses at the moment. */
  pairs: number[];
  /** Alice enters her API key on the page of this question, or finds that it is closed. */
  connect(url: string): Promise<void>;
}

export interface DeployedSite extends Site {
  at: Installation;
}

const pairs = Array.from({ length: 12 }, (_, index) => index);
const fixtures = path.resolve(import.meta.dirname, '../fixtures');

const env = {
  ELICITATION_MAX_OPEN: '5000',
  LIVE_TURNS_PER_USER: '5000',
  RATE_LIMIT_PER_MINUTE: '1000000',
  OPEN_REQUESTS_PER_USER: '5000',
};

/** Resolves to the name of the agents file, which is gone with the stack. */
async function writeAgents(stack: AsyncDisposableStack, desk: Desk, hasTools: boolean): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-races-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const servers = pairs.flatMap((n) =>
    ['left', 'right'].map(
      (side) =>
        `  ${side}${n}: { url: '${desk.url}/${side}${n}', store: vault, vault: { header: x-api-key, check: false } }`,
    ),
  );
  const file = path.join(folder, 'agents.yaml');
  await writeFile(
    file,
    `providers: { scripted: { script: ${path.join(fixtures, 'script.ts')} } }
servers:
  desk: { url: '${desk.url}', credentialScope: none }
  approved: { url: '${desk.url}', credentialScope: none, approval: always }
  held: { url: '${desk.heldUrl}', credentialScope: none }
${servers.join('\n')}
agents:
  assistant:
    model: scripted
    servers: [desk, approved, held]
    agents: [helper]
${hasTools ? `    tools: { folder: ${path.join(fixtures, 'operations-tools')} }\n` : ''}
  helper: { model: scripted, servers: [desk] }
${pairs.map((n) => `  pair${n}: { model: scripted, servers: [left${n}, right${n}] }`).join('\n')}
`,
  );
  return file;
}

/** In this process. */
export function useSite(database: 'sqlite' | 'postgres', more: Record<string, string> = {}): Site {
  const site = {} as Site;
  const used = useService({
    async needs(stack) {
      site.desk = await startDesk();
      stack.use(site.desk);
      const INTERLUDE_CONFIG = await writeAgents(stack, site.desk, false);
      const own =
        database === 'postgres' ? { DATABASE_URL: await postgresUrl(), INTERLUDE_KEYS: someKeys } : {};
      return { env: { ...env, INTERLUDE_CONFIG, ...own, ...more } };
    },
    async prepare() {
      const { storage } = used.service;
      const workflows = used.temporal.client.workflow;
      Object.assign(site, { storage, workflows, callers: [used.alice], pairs: [...pairs] });
      site.connect = connectorOf();
    },
  });
  return site;
}

export function useDeployedSite(): DeployedSite {
  const site = {} as DeployedSite;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    site.desk = stack.use(await startDesk());
    const INTERLUDE_CONFIG = await writeAgents(stack, site.desk, true);
    site.at = await startInstallation({ env: { ...env, INTERLUDE_CONFIG, HOTEL_URL: site.desk.hotelUrl } });
    stack.defer(() => site.at.stop());
    site.storage = await openStorage(site.at.database.config());
    stack.defer(() => site.storage.close());
    const token = await site.at.deployment.token('alice');
    const [first, second] = site.at.apiUrls;
    site.callers = [createCaller(first, token), createCaller(second, token)];
    Object.assign(site, { workflows: site.at.workflows, pairs: [...pairs] });
    site.connect = connectorOf();
  }, 300_000);
  afterAll(() => stack.disposeAsync(), 120_000);
  return site;
}

/** One browser, in which alice signs in once. */
function connectorOf(): Site['connect'] {
  const browser = openBrowser();
  let signedIn: Promise<unknown> | undefined;
  const signIn = 'Continue as Alice';
  const open = async (url: string) => {
    const page = await browser.get(url);
    return page.buttons.some((words) => words.includes(signIn)) ? browser.press(page, signIn) : page;
  };
  return async (url) => {
    await (signedIn ??= open(url));
    const page = await open(url);
    const connect = page.buttons.find((words) => words.startsWith('Connect'));
    if (connect !== undefined) await browser.press(page, connect, { key: 'key_0123456789abcdef' });
  };
}
