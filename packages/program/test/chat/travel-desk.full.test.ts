/** The demo's sentences in the terminal: the real client, the real service, the real travel desk. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startTravelDesk } from '../../../../demo/travel/travel.ts';
import type { TravelDesk } from '../../../../demo/travel/travel.ts';
import { freePort } from '../../../../test/free-port.ts';
import { useService } from '../../../../test/service/use-service.ts';
import { startChat } from './chat-process.ts';
import type { Chat } from './chat-process.ts';

const agentsFile = fileURLToPath(new URL('../../../../demo/agents.yaml', import.meta.url));

let desk: TravelDesk;
let dataDir: string;
const { service } = useService({
  async needs(stack) {
    dataDir = await mkdtemp(path.join(tmpdir(), 'travel-'));
    stack.defer(() => rm(dataDir, { recursive: true }));
    desk = await startTravelDesk({ port: 0, dataDir, paymentWaitMs: 100 });
    stack.defer(() => desk.stop());
    return {
      env: {
        INTERLUDE_CONFIG: agentsFile,
        DEMO_TRACKER_PORT: String(await freePort()),
        DEMO_TRAVEL_PORT: new URL(desk.url).port,
      },
    };
  },
});

async function chat(): Promise<Chat> {
  const conversation = randomUUID();
  service.begun(conversation);
  const token = await service.token('alice');
  return startChat(['--url', service.baseUrl, '--token', token, '--conversation', conversation]);
}

async function type(lines: string[]): Promise<string> {
  const terminal = await chat();
  for (const line of lines) terminal.type(line);
  terminal.endInput();
  expect(await terminal.ended).toBe(0);
  return terminal.output();
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test('a trip is booked with a form, its mistakes corrected here and there', async () => {
  const [soon, over] = [inDays(30), inDays(-30)];
  const name = 'Bob 👀 Brown';
  const fields = [
    name,
    'bob@example.com',
    over,
    `${soon} 07:30 Z`,
    '2',
    '12',
    '1200',
    'n',
    '3',
    '',
    '1,4',
    '',
  ];
  const again = ['3', soon, ''];
  const output = await type(['Book a trip to Lisbon.', ...fields, '', ...again]);
  expect(output).toContain('    ✗ That is too little: at least 100.\n');
  expect(output).toContain('  ● Please check your trip to Lisbon: the day of departure is over.\n');
  expect(output).toContain(`  → Business\n`);
  expect(output).toContain(`Your trip to **Lisbon** is booked: **T-1002**, ${soon}, 2 nights, for ${name}.`);
  expect(desk.books.trips[1]).toMatchObject({
    traveller: name,
    departure: soon,
    pickUp: `${soon}T07:30:00Z`,
    nights: 2,
    budget: 1200,
    windowSeat: false,
    class: 'business',
    meals: 'standard',
    extras: ['suitcase', 'train'],
  });
  expect(desk.books.trips[1]).not.toHaveProperty('loyaltyNumber');
});

test('a form that the desk’s own schema refuses comes back with the field named', async () => {
  // The terminal takes it for an address; the check of the service knows better.
  const fields = [
    'Bob Brown',
    'bob@@example',
    inDays(30),
    `${inDays(30)} 07:30 Z`,
    '2',
    '1200',
    '',
    '',
    '',
    '',
    '',
  ];
  const output = await type(['Book a trip to Rome.', ...fields, '', '/back', '/n']);
  expect(output).toMatch(/ {2}2\/11 Email .*\n {4}✗ .+\n/);
  expect(output).toContain('All right, nothing was booked.');
});

test('an offsite is planned step by step', async () => {
  const output = await type(['Plan an offsite.', '2', '', '1', '', '1 5', 'y', '', '']);
  expect(output).toMatch(
    /The offsite is reserved: \*\*O-1001\*\*, Havnehuset in Copenhagen, .*, for Alice Adams, Eva Egger\./,
  );
  expect(desk.books.offsites).toMatchObject([
    { city: 'Copenhagen', people: ['alice', 'eva'], status: 'reserved' },
  ]);
});

test('a form stays open while the desk stops and starts again', async () => {
  const terminal = await chat();
  terminal.type('Plan an offsite.');
  await terminal.sees('Where should the team meet?');
  await desk.stop();
  desk = await startTravelDesk({ port: Number(new URL(desk.url).port), dataDir, paymentWaitMs: 100 });
  for (const line of ['2', '', '/c']) terminal.type(line);
  terminal.endInput();
  expect(await terminal.ended).toBe(0);
  expect(terminal.output()).toContain('The question was closed without an answer, so nothing was reserved.');
});

test('an offsite is dropped in the middle', async () => {
  const output = await type(['Plan an offsite.', '2', '', '/c']);
  expect(output).toContain('  – Dismissed.\n');
  expect(output).toContain('The question was closed without an answer, so nothing was reserved.');
  expect(desk.books.offsites).toHaveLength(1);
});

test('a deposit is paid on a page, and Enter says so', async () => {
  const terminal = await chat();
  terminal.type('Pay the deposit for T-1001.');
  await terminal.sees('when you are done');
  const url = /http:\/\/localhost:\d+\/pay\/[\w-]+/.exec(terminal.output())?.[0] ?? '';
  expect((await fetch(url, { method: 'POST' })).ok).toBe(true);
  terminal.type('');
  terminal.type('List my trips.');
  terminal.endInput();
  expect(await terminal.ended).toBe(0);
  expect(terminal.output()).toContain('Thank you: the deposit of **180 €** for **T-1001** to Porto is paid.');
  expect(terminal.output()).toContain('**T-1001** Porto');
});

test('a deposit that is said to be paid and is not is asked for once more', async () => {
  await type(['Book a trip to Oslo.', '/n']);
  const { deposit } = desk.books.trips[0] ?? {};
  if (deposit) deposit.paidAt = null;
  const output = await type(['Pay the deposit for T-1001.', 'y', 'y']);
  expect(output).toContain(
    '● The deposit of 180 € for trip T-1001 has not arrived yet. Press Pay on the page, then come back.',
  );
  expect(output).toContain('The deposit has not arrived, so I stopped waiting.');
});
