/** Two APIs and two workers over PostgreSQL, and programs that call them by turns, as through a load balancer without a memory. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createApiKey } from '../../../src/service/api-keys.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { ServiceProcess } from '../../e2e/processes.ts';
import { startInstallation } from '../../operations/installation.ts';
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

export type Replicas = Awaited<ReturnType<typeof startReplicas>>;

/** How a program sends its requests: each to the next API, or to the other one when that is down. */
export interface Line {
  fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
  headers: Record<string, string>;
  url: URL;
}

export async function startReplicas() {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-replicas-'));
  const wizards = await startWizardServer();
  const config = path.join(folder, 'replicas.yaml');
  const script = path.resolve(import.meta.dirname, '../../fixtures/script.ts');
  await writeFile(
    config,
    `providers: { scripted: { script: '${script}' } }
servers: { wizard: { url: '${wizards.url}', credentialScope: none, maxRounds: 20 } }
agents: { assistant: { model: scripted, servers: [wizard] } }
`,
  );
  const at = await startInstallation({ env: { INTERLUDE_CONFIG: config, RATE_LIMIT_PER_MINUTE: '1000000' } });
  at.deployment.defer(() => wizards.stop());
  at.deployment.defer(() => rm(folder, { recursive: true }));
  const storage = await openStorage(at.database.config());
  const key = await createApiKey(storage, 'demo', null, { actsForUsers: true });
  await storage.close();
  const ports = at.apiUrls.map((url) => Number(new URL(url).port));
  return {
    deployment: at.deployment,
    wizards,
    /** By index, as their ports are; a killed one is replaced by `startTheDead`. */
    apis: at.apis,
    workers: at.workers,
    async startTheDead(): Promise<void> {
      const isDead = (among: ServiceProcess[], place: 0 | 1) => among[place]?.isAlive() !== true;
      await Promise.all(
        ([0, 1] as const).map(async (place) => {
          if (isDead(at.apis, place)) await at.startApi(place);
          if (isDead(at.workers, place)) await at.startWorker(place);
        }),
      );
    },
    /** For a program that acts for the user, and begins with the API of this index. */
    line: (user: string, first: 0 | 1): Line =>
      line(ports, first, { authorization: `Bearer ${key}`, 'x-interlude-user': user }),
    stop: () => at.stop(),
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
