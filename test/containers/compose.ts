/**
 * docker-compose.yml through an operator's days: questions wait while every container is killed, another version is deployed and
 * rolled back, the database is restored from a backup, and its password changes. The commands are those that docs/ prints. The
 * issuer's certificate is of a private authority, mounted as docs/deploying.md says.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { createCaller } from '../service/user.ts';
import type { Caller } from '../service/user.ts';
import { startIssuer } from './issuer.ts';
import { printedBlock, runPrinted } from './printed.ts';
import type { Docker } from './stand-ins.ts';
import { say, step } from './step.ts';

export async function checkCompose({
  docker,
  checkout,
  environment,
  stack,
}: {
  docker: Docker;
  checkout: string;
  environment: NodeJS.ProcessEnv;
  /** For what ends with the test. */
  stack: AsyncDisposableStack;
}): Promise<void> {
  const at = (name: string) => path.join(checkout, name);
  const port = await freePort();
  Object.assign(environment, {
    COMPOSE_PROJECT_NAME: `interlude-test-${port}`,
    COMPOSE_FILE: 'docker-compose.yml:docker-compose.override.yml:test/containers/compose.yaml',
  });
  const compose = (...options: string[]) => docker('compose', ...options);
  const printed = (page: string, words: string) =>
    runPrinted(page, words, { folder: checkout, env: environment });

  await mkdir(at('build/notebook'));
  // Written by the image's user.
  await chmod(at('build/notebook'), 0o777);
  const pages = async () =>
    (await readFile(at('build/notebook/pages'), 'utf8').catch(() => '')).split('\n').slice(0, -1);
  const agents = await readFile(at('test/containers/agents/agents.yaml'), 'utf8');
  await writeFile(at('agents.yaml'), agents);
  const issuer = stack.use(await startIssuer(at('build'), at('company-ca.pem')));
  await writeFile(
    at('docker-compose.override.yml'),
    await printedBlock('deploying.md', '/etc/company/ca.pem:ro'),
  );
  const settings = {
    API_PORT: port,
    PUBLIC_URL: `http://localhost:${port}`,
    INTERLUDE_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    POSTGRES_PASSWORD: randomBytes(16).toString('hex'),
    AUTH_ISSUER: issuer.issuer,
    AUTH_AUDIENCE: 'interlude',
    AUTH_CLIENT_ID: 'interlude',
    NODE_EXTRA_CA_CERTS: '/etc/company/ca.pem',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    // The test asks more often than a person.
    RATE_LIMIT_PER_MINUTE: 100_000,
    OPEN_REQUESTS_PER_USER: 2_000,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(at('.env'), lines.join(''));

  const base = `http://127.0.0.1:${port}`;
  const alice = createCaller(base, await issuer.token('alice'));
  const ask = (page: string) => startTurn(alice, page);
  const answerOf = async ({ page, isThere, answer }: Awaited<ReturnType<typeof ask>>) => {
    await isThere();
    await answer();
    await until('its page is deleted', async () => (await pages()).includes(`deleted ${page}`));
  };
  /** The current one first. */
  const versions = async () =>
    (await compose('exec', '-T', 'worker', 'interlude', 'versions')).trim().split('\n');
  stack.defer(async () => {
    await compose('down', '--volumes', '--timeout', '5');
  });

  try {
    await step('up', async () => {
      await compose('up', '--detach');
      // Without Grafana, whose image may be missing.
      await compose('up', '--detach', 'collector', 'prometheus');
      await untilAnswers(alice);
      await until('new turns start', async () => (await versions())[0]?.startsWith('*') ?? false);
    });
    const answered = await step('a user asks, with a token of the issuer', () => ask('answered'));
    await step('the question is answered', () => answerOf(answered));
    await step('Prometheus and the collector see it', async () => {
      const query = ['promtool', 'query', 'instant', 'http://localhost:9090'];
      const settled = 'sum(interlude_questions_settled_total{outcome="accept"})';
      for (const [expression, value] of [
        ['sum(up)', 3],
        [settled, 1],
      ] as const)
        await until(`${expression} is ${value}`, async () =>
          (await compose('exec', '-T', 'prometheus', ...query, expression)).startsWith(`{} => ${value} @`),
        );
      await until('spans have arrived', async () =>
        /"spans": [1-9]/.test(await compose('logs', '--no-color', 'collector')),
      );
    });

    const killed = await ask('killed');
    await step('all containers are killed', async () => {
      for (const id of (await compose('ps', '--quiet')).trim().split('\n'))
        await docker('kill', id).catch(ifEnded);
    });
    await step('up again', async () => {
      await compose('up', '--detach');
      await untilAnswers(alice);
    });
    await step('the question is there, and is answered', () => answerOf(killed));

    const [deployed, rolledBack] = [await ask('deployed'), await ask('rolled back')];
    const current = async () => /^\* +(\S+) /.exec((await versions())[0] ?? '')?.[1];
    const before = await current();
    await step('another version is deployed', async () => {
      await appendFile(at('src/workflows/index.ts'), '\nexport const another = true;\n');
      await withoutGap(alice, () => printed('deploying.md', 'up --build'));
      await until('it is current', async () => (await current()) !== before);
    });
    await step('it is rolled back', () =>
      withoutGap(alice, () => printed('deploying.md', 'versions rollback')),
    );
    assert.equal(await current(), before);
    await step('a question from before both is answered', () => answerOf(deployed));

    await step('an agent is added to the agents file', async () => {
      await writeFile(
        at('new.yaml'),
        agents.replace(/^ {2}wiki:[^]*/m, (wiki) => `${wiki}${wiki.replace('wiki', 'added')}`),
      );
      await printed('operating.md', 'kill -s HUP');
      await until('three processes have it', async () => {
        const logs = await compose('logs', '--no-color', 'api-1', 'api-2', 'worker');
        return logs.match(/changes applied: agent added/g)?.length === 3;
      });
    });

    await step('a backup is made and restored', async () => {
      const status = await printed('operating.md', 'pg_basebackup --username interlude');
      say(status.trim().split('\n').slice(-4).join('\n'));
      await untilAnswers(alice);
    });
    await step("the database's password changes", async () => {
      await printed('deploying.md', 'ALTER ROLE');
      await untilAnswers(alice);
    });
    await step('a question from before all that is answered', () => answerOf(rolledBack));
    assert.deepEqual(
      await pages(),
      ['answered', 'killed', 'deployed', 'rolled back'].map((page) => `deleted ${page}`),
    );
    say('each page was deleted once');
  } catch (error) {
    say(await compose('ps'));
    say((await compose('logs', '--no-color', '--tail', '40')).slice(-20_000));
    throw error;
  }
}

/** Returns once its tool asks. */
async function startTurn(user: Caller, page: string) {
  const conversation = `conversation-${page.replaceAll(' ', '-')}`;
  const stream = await user.chat(`delete ${page}`, { conversation });
  const { elicitationId } = await stream.question('pending');
  stream.close();
  return {
    page,
    async isThere(): Promise<void> {
      const again = await user.rejoin(conversation);
      assert(again, 'the turn goes on');
      assert.equal((await again.question('pending')).elicitationId, elicitationId);
      again.close();
    },
    async answer(): Promise<void> {
      const { status, body } = await user.answer({
        conversationId: conversation,
        elicitationId,
        action: 'accept',
        content: { confirmed: true },
      });
      assert([200, 202].includes(status), `the answer got ${status}: ${JSON.stringify(body)}`);
    },
  };
}

/** Some containers have done their work and ended. */
function ifEnded(error: unknown): void {
  if (!/is not running/.test(String(error))) throw error;
}

async function until(what: string, holds: () => Promise<boolean>, withinMs = 180_000): Promise<void> {
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(500))
    if (await holds()) return;
  throw new Error(`Not within ${withinMs / 1000} s: ${what}`);
}

const isFine = (user: Caller) =>
  user.request('GET', '/run/v1/elicitations').then(
    ({ status }) => status === 200,
    () => false,
  );
const untilAnswers = (user: Caller) => until('the API answers', () => isFine(user));

/** A request every 100 ms; all get an answer. */
async function withoutGap(user: Caller, work: () => Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const requests: Promise<boolean>[] = [];
  let slowest = 0;
  const asking = (async () => {
    while (!over.signal.aborted) {
      const from = performance.now();
      const one = isFine(user);
      requests.push(one);
      void one.then(() => (slowest = Math.max(slowest, performance.now() - from)));
      await sleep(100);
    }
  })();
  try {
    await work();
  } finally {
    over.abort();
    await asking;
  }
  const failed = (await Promise.all(requests)).filter((isAnswered) => !isAnswered).length;
  say(`requests meanwhile: ${requests.length}, failed: ${failed}, slowest: ${(slowest / 1000).toFixed(1)} s`);
  assert.equal(failed, 0);
}
