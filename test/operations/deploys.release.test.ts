/** Two newer releases start at once while turns of the old one wait; an operator goes back while they start, further back, and forward. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Diagnosis } from '../../src/cli/doctor/diagnose.ts';
import { createCheckout } from './checkouts.ts';
import type { Checkout } from './checkouts.ts';
import { startInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { beginTurn, chatKinds, completed } from './waiting-turns.ts';
import type { ChatTurn } from './waiting-turns.ts';

let at: Installation;
let releases: ReturnType<typeof createCheckout>[];
beforeAll(async () => {
  releases = [createCheckout(1), createCheckout(2)];
  at = await startInstallation();
}, 300_000);
afterAll(async () => {
  await at.stop();
  for (const release of releases) release[Symbol.dispose]();
});

const rows = (statement: string) => at.database.query(statement) as Promise<{ build_id: string }[]>;
const deployed = async () =>
  (await rows('select build_id from deployed_versions order by rank desc')).map(({ build_id: id }) => id);
const doctor = async (release?: Checkout) => {
  const { deploy } = JSON.parse(await at.command(['doctor', '--json'], release)) as Diagnosis;
  if (!deploy) throw new Error('the database is there');
  return deploy;
};
const readyz = (url: string) =>
  fetch(`${url}/readyz`).then(
    (response) => response.text(),
    (error: Error) => error.message,
  );
const rollBack = () => at.command(['versions', 'rollback']);

const turns: ChatTurn[] = [];
/** Begins a turn: the version that it starts with. */
async function versionOfNewTurn(): Promise<string | undefined> {
  const turn = beginTurn(at, 'round', `new-${turns.length}`, { place: turns.length % 2 === 0 ? 0 : 1 });
  turns.push(turn);
  await turn.asked();
  const { conversationId } = turn.turn.message;
  return (await rows(`select build_id from turns where conversation = '${conversationId}'`))[0]?.build_id;
}

test(
  'which version new turns start with is always said, and turns of every version go on with their code',
  { timeout: 600_000 },
  async ({ onTestFailed, onTestFinished }) => {
    onTestFailed(() => void process.stderr.write(`${at.log()}\n`));
    turns.push(...chatKinds.map((kind) => beginTurn(at, kind, `old-${kind}`)));
    await Promise.all(turns.map((turn) => turn.asked()));
    const [old = ''] = await deployed();

    const before = await Promise.all(releases.map((release) => doctor(release)));
    const [one = '', two = ''] = before.map(({ release }) => release.buildId);
    for (const { release, effects } of before)
      expect(effects).toEqual(
        expect.arrayContaining([
          `New turns start with version ${release.buildId} once one of its workers polls; now with ${old}.`,
          expect.stringMatching(`^With version ${old}: ${turns.length} turns wait for people`),
        ]),
      );

    const ready = new Set<string>();
    let isOver = false;
    onTestFinished(() => void (isOver = true));
    const watching = (async () => {
      for (; !isOver; await sleep(200)) for (const url of at.apiUrls) ready.add(await readyz(url));
    })();

    // The second stops halfway: it has started, and is not current yet.
    const starting = Promise.all(
      releases.map((checkout, index) => at.startWorker(2 + index, { checkout })),
    ).then(
      () => 'both are ready',
      (error: Error) => error.message,
    );
    const second = `from processes where build_id = '${two}'`;
    await expect
      .poll(() => rows(`select build_id ${second}`), { timeout: 60_000, interval: 50 })
      .not.toEqual([]);
    const { pid } = at.workers[3]!;
    process.kill(pid, 'SIGSTOP');
    await at.database.query(
      `update processes set lease_until = lease_until + 300000 where build_id = '${two}'`,
    );
    await expect.poll(deployed, { timeout: 60_000 }).toEqual([one, old]);
    const [listed, effects, refused, started] = await Promise.all([
      at.command(['versions']),
      doctor().then((deploy) => deploy.effects),
      rollBack().catch((error: Error) => error.message),
      versionOfNewTurn(),
    ]);
    expect(listed).toMatch(new RegExp(`^\\*  ${one}[^]*Version ${two} has started and is not current yet`));
    expect(effects).toContainEqual(
      expect.stringContaining(`Version ${two} has started and is not current yet`),
    );
    expect(refused).toContain(
      `Version ${two} has started and is not current yet; new turns start with version ${one}`,
    );
    expect(started).toBe(one);
    process.kill(pid, 'SIGCONT');
    expect(await starting).toBe('both are ready');
    await expect.poll(deployed, { timeout: 60_000 }).toEqual([two, one, old]);
    expect(await versionOfNewTurn()).toBe(two);

    // Back, further back, and no further.
    expect(await rollBack()).toContain(`New turns start with version ${one}, no longer with ${two}.`);
    expect(await versionOfNewTurn()).toBe(one);
    expect(await rollBack()).toContain(`New turns start with version ${old}, no longer with ${one}.`);
    await expect(rollBack()).rejects.toThrow('There is no version to go back to');
    expect(await versionOfNewTurn()).toBe(old);
    // A restart of a release that was left changes nothing, and doctor says what does.
    await at.startWorker(3, { checkout: releases[1]! });
    expect((await doctor(releases[1])).effects[0]).toBe(
      `New turns start with version ${old}, as now: ${two} was current before. To start them with it: interlude versions use ${two}`,
    );
    expect(await versionOfNewTurn()).toBe(old);
    await at.command(['versions', 'use', two]);
    expect(await versionOfNewTurn()).toBe(two);

    isOver = true;
    await watching;
    expect([...ready]).toEqual(['{"status":"ready","warnings":[]}']);
    const { versions } = await doctor();
    expect(versions.reduce((sum, { waiting }) => sum + waiting, 0)).toBe(turns.length);
    for (const turn of turns) expect([200, 202]).toContain((await turn.answer()).status);
    for (const turn of turns) expect(await turn.ended()).toEqual(completed(turn));
  },
);
