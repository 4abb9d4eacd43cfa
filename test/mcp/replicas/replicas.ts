/** Two APIs and two workers over PostgreSQL, and programs that call them by turns, as through a load balancer without a memory. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { startTemporalServer } from '../../../src/platform/development/temporal-server.ts';
import { createApiKey } from '../../../src/service/api-keys.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { createDeployment, someKeys } from '../../e2e/deployment.ts';
import type { Deployment } from '../../e2e/deployment.ts';
import type { ServiceProcess } from '../../e2e/processes.ts';
import { freePort } from '../../free-port.ts';
import { postgresUrl } from '../../postgres.ts';
import { asks, done, form } from '../../servers/scripted-mcp-server.ts';
import { answer, listing, startRawMcpServer } from '../../servers/raw-mcp-server.ts';

/**
 * A stateless MCP server of the new era: its tool `run {id, steps}` asks for one word per round and returns all of them.
 */
export interface WizardServer {
  url: string;
  /** How often the wizard of this id was called, its last time included; and how often it came to its end. */
  calls(id: string): number;
  ends(id: string): number;
  stop(): Promise<void>;
}

async function startWizardServer(): Promise<WizardServer> {
  const calls = new Map<string, number>();
  const ends = new Map<string, number>();
  const count = (of: Map<string, number>, id: string) => of.set(id, (of.get(id) ?? 0) + 1);
  const properties = { id: { type: 'string' }, steps: { type: 'integer' } };
  const tool = { name: 'run', inputSchema: { type: 'object', properties }, annotations: {} };
  const raw = await startRawMcpServer({
    on: {
      'tools/list': (message, response) => answer(message, response, listing([tool])),
      'tools/call'(message, response) {
        const { arguments: given = {}, requestState = '[]', inputResponses = {} } = message.params ?? {};
        const id = String(given['id']);
        count(calls, id);
        const said = inputResponses['word'] as { content?: { word?: string } } | undefined;
        const words = [
          ...(JSON.parse(requestState) as string[]),
          ...(said ? [said.content?.word ?? '?'] : []),
        ];
        if (words.length < Number(given['steps'])) {
          const question = form(`${id}: word ${words.length + 1}`, { word: { type: 'string' } });
          return answer(message, response, asks({ word: question }, JSON.stringify(words)));
        }
        count(ends, id);
        answer(message, response, done(words.join(' ')));
      },
    },
  });
  return {
    url: raw.config.url,
    calls: (id) => calls.get(id) ?? 0,
    ends: (id) => ends.get(id) ?? 0,
    stop: () => raw.stop(),
  };
}

export interface Replicas {
  deployment: Deployment;
  wizards: WizardServer;
  /** By index, as their ports are; a killed one is replaced by `startTheDead`. */
  apis: ServiceProcess[];
  workers: ServiceProcess[];
  startTheDead(): Promise<void>;
  /** For a program that acts for the user, and begins with the API of this index. */
  line(user: string, first: 0 | 1): Line;
  stop(): Promise<void>;
}

/** How a program sends its requests: each to the next API, or to the other one when that is down. */
export interface Line {
  fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
  headers: Record<string, string>;
  url: URL;
}

export async function startReplicas(): Promise<Replicas> {
  const wizards = await startWizardServer();
  const databaseUrl = await postgresUrl();
  const temporalPort = await freePort();
  const deployment = await createDeployment({
    env: {
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      INTERLUDE_KEYS: someKeys,
      RATE_LIMIT_PER_MINUTE: '1000000',
    },
  });
  deployment.defer(() => wizards.stop());
  const config = path.join(deployment.dataDir, 'replicas.yaml');
  const script = path.resolve(import.meta.dirname, '../../fixtures/script.ts');
  await writeFile(
    config,
    `providers: { scripted: { script: '${script}' } }
servers: { wizard: { url: '${wizards.url}', credentialScope: none, maxRounds: 20 } }
agents: { assistant: { model: scripted, servers: [wizard] } }
`,
  );
  deployment.environment['INTERLUDE_CONFIG'] = config;
  const temporal = await startTemporalServer({
    temporal: { namespace: 'default', port: temporalPort, uiPort: await freePort() },
    dataDir: `${deployment.dataDir}/temporal`,
    logger: pino({ level: 'silent' }),
  });
  deployment.defer(() => temporal.stop());

  const ports = [await freePort(), await freePort()];
  const apis: ServiceProcess[] = [];
  const workers: ServiceProcess[] = [];
  const replace = async (among: ServiceProcess[], index: number, start: () => Promise<ServiceProcess>) => {
    if (among[index]?.isAlive() !== true) among[index] = await start();
  };
  const startTheDead = async () => {
    await Promise.all(
      ports.flatMap((port, index) => [
        replace(apis, index, () => deployment.start('server', { PORT: String(port) })),
        replace(workers, index, () => deployment.start('worker')),
      ]),
    );
  };
  await startTheDead();
  const storage = await openStorage({ kind: 'postgres', url: databaseUrl });
  const key = await createApiKey(storage, 'demo', null, { actsForUsers: true });
  await storage.close();

  return {
    deployment,
    wizards,
    apis,
    workers,
    startTheDead,
    line: (user, first) => line(ports, first, { authorization: `Bearer ${key}`, 'x-interlude-user': user }),
    stop: () => deployment.stop(),
  };
}

function line(ports: number[], first: number, headers: Record<string, string>): Line {
  let next = first;
  return {
    headers,
    url: new URL('http://127.0.0.1/run/v1/mcp'),
    async fetch(input, init) {
      const url = new URL(input);
      for (let tries = 1; ; tries++) {
        url.port = String(ports[next++ % ports.length]);
        try {
          return await fetch(url, init);
        } catch (error) {
          const isRefused = (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED';
          if (!isRefused || tries === ports.length) throw error;
        }
      }
    },
  };
}
