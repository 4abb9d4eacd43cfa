/**
 * Wizards over two APIs that are asked by turns, in each way of asking: many at once, then with everything that holds them
 * killed or frozen in the middle of a question. None is stuck, none is done twice.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Client as ClientV2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { showOutput } from '../../e2e/deployment.ts';
import type { ServiceProcess } from '../../e2e/processes.ts';
import { startReplicas } from './replicas.ts';
import type { Line, Replicas } from './replicas.ts';

/** A wizard run by clients of the SDKs, in each way in which its questions can come to a person. */
interface Wizard {
  id: string;
  steps: number;
  /** When the nth word is asked for, from 1, before it is said. */
  atStep?: (step: number) => Promise<unknown>;
}

/** Of a client whose call is one request, however long its user takes. Its SDK gives up after a minute otherwise. */
const patienceMs = 200_000;

/** What its call came to, in the words of the result. */
type RunWizard = (line: Line, wizard: Wizard) => Promise<string>;

const ways: Record<'input-required' | 'pushed' | 'in words', RunWizard> = {
  async 'input-required'(line, wizard) {
    const client = new ClientV2(
      { name: 'modern', version: '1' },
      {
        capabilities: { elicitation: { form: {}, url: {} } },
        versionNegotiation: { mode: 'auto' },
        inputRequired: { maxRounds: 40 },
      },
    );
    client.setRequestHandler('elicitation/create', ({ params }) => wordFor(params.message, wizard));
    await client.connect(new StreamableHTTPClientTransport(line.url, optionsOf(line)));
    try {
      return textOf(await client.callTool(callOf(wizard)));
    } finally {
      await client.close();
    }
  },

  async pushed(line, wizard) {
    const client = new ClientV1({ name: 'legacy', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => wordFor(params.message, wizard));
    // The SDK's own types do not agree under exactOptionalPropertyTypes.
    const transport = new TransportV1(line.url, optionsOf(line)) as Parameters<typeof client.connect>[0];
    await client.connect(transport);
    try {
      return textOf(await client.callTool(callOf(wizard), undefined, { timeout: patienceMs }));
    } finally {
      await client.close();
    }
  },

  async 'in words'(line, wizard) {
    const client = new ClientV2(
      { name: 'words', version: '1' },
      { versionNegotiation: { mode: 'auto' }, inputRequired: { maxRounds: 40 } },
    );
    await client.connect(new StreamableHTTPClientTransport(line.url, optionsOf(line)));
    try {
      let result = await client.callTool(callOf(wizard));
      for (;;) {
        const pending = result._meta?.['elicitationPending'] as
          | { elicitId: string; message: string }
          | undefined;
        if (!pending) return textOf(result);
        const { action, content } = await wordFor(pending.message, wizard);
        result = await client.callTool({
          name: 'sendElicitationResult',
          arguments: { elicitId: pending.elicitId, action, content },
        });
      }
    } finally {
      await client.close();
    }
  },
};

const wordsOf = ({ steps }: Pick<Wizard, 'steps'>) =>
  Array.from({ length: steps }, (_, index) => `w${index + 1}`).join(' ');

const callOf = ({ id, steps }: Wizard) => ({
  name: 'ask_assistant',
  arguments: { message: `call wizard__run ${JSON.stringify({ id, steps })}` },
});

const optionsOf = ({ fetch, headers }: Line) => ({ fetch, requestInit: { headers } });

async function wordFor(message: string, { id, atStep }: Wizard) {
  const [, asked, step] = /([\w-]+): word (\d+)/.exec(message) ?? [];
  if (asked !== id) throw new Error(`${id} was asked for another: ${message}`);
  await atStep?.(Number(step));
  return { action: 'accept' as const, content: { word: `w${step}` } };
}

function textOf(result: object): string {
  const { content } = result as { content: { type: string; text: string }[] };
  return content[0]?.text ?? '';
}

type Way = keyof typeof ways;

let replicas: Replicas;
let count = 0;

beforeAll(async () => {
  replicas = await startReplicas();
}, 120_000);
beforeEach(() => replicas.startTheDead(), 60_000);
afterAll(() => replicas.stop());
afterEach(showOutput(() => replicas.deployment));

const allWays = Object.keys(ways) as Way[];

interface Run extends Omit<Wizard, 'id'> {
  /** The API that its first request goes to. */
  first?: 0 | 1;
}

/** One user, one call, from its first question to its result. */
async function runWizard(way: Way, { first = 0, ...wizard }: Run) {
  const id = `${way.replace(' ', '-')}-${++count}`;
  const text = await ways[way](replicas.line(`user-${id}`, first), { id, ...wizard });
  const { calls, ends } = replicas.wizards;
  expect({ id, text, calls: calls(id), ends: ends(id) }).toEqual({
    id,
    text: wordsOf(wizard),
    calls: wizard.steps + 1,
    ends: 1,
  });
}

test('forty wizards of ten steps in each way of asking', { timeout: 480_000 }, async () => {
  const atOnce = 8;
  await Promise.all(
    allWays.map(async (way) => {
      let left = 40;
      const oneAfterTheOther = async () => {
        while (left-- > 0) await runWizard(way, { steps: 10 });
      };
      await Promise.all(Array.from({ length: atOnce }, oneAfterTheOther));
    }),
  );
});

/** In each way, by way of each API, a wizard whose second question is open when it happens. */
async function whileAllAsk(what: () => Promise<unknown>): Promise<void> {
  const runs = allWays.flatMap((way) => ([0, 1] as const).map((first) => ({ way, first })));
  const open = new Set<string>();
  let hasBegun = false;
  const happened = Promise.withResolvers<unknown>();
  await Promise.all(
    runs.map(({ way, first }) =>
      runWizard(way, {
        steps: 4,
        first,
        // It may be shown again, after its stream broke off.
        async atStep(step) {
          if (step !== 2) return;
          open.add(`${way} ${first}`);
          if (open.size === runs.length && !hasBegun) {
            hasBegun = true;
            what().then(happened.resolve, happened.reject);
          }
          await happened.promise;
        },
      }),
    ),
  );
}

test('an API and every worker are killed', { timeout: 180_000 }, async () => {
  const { apis, workers } = replicas;
  await whileAllAsk(async () => {
    await Promise.all([...apis.slice(0, 1), ...workers].map((one) => one.kill('SIGKILL')));
    void replicas.startTheDead();
  });
});

async function freeze(frozen: ServiceProcess[], ms: number): Promise<void> {
  for (const { pid } of frozen) process.kill(pid, 'SIGSTOP');
  await delay(ms);
  for (const { pid, isAlive } of frozen) if (isAlive()) process.kill(pid, 'SIGCONT');
}

test('an API stands still for a while, with the streams that it has', { timeout: 180_000 }, async () => {
  await whileAllAsk(async () => void freeze(replicas.apis.slice(0, 1), 10_000));
});

test(
  'every worker stands still for a minute, and people answer meanwhile',
  { timeout: 240_000 },
  async () => {
    await whileAllAsk(async () => void freeze([...replicas.workers], 60_000));
  },
);

test('a worker stands still for good, and the other one takes over', { timeout: 180_000 }, async () => {
  const frozen = replicas.workers[0]!;
  await whileAllAsk(async () => process.kill(frozen.pid, 'SIGSTOP'));
  await frozen.kill('SIGKILL');
});
