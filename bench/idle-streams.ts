/** What a stream costs on which nothing happens, in processes that do nothing else. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { unfinishedCallResult } from '../src/turn/call-result.ts';
import type { MemoryUse } from './memory-use.ts';
import { tenant } from './doubles/issuer.ts';
import type { Section } from './report.ts';
import { setUp } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import { openStreams } from './streams.ts';

const idleMs = 3_000;

interface Subject {
  url: (index: number) => string;
  headers?: Record<string, string>;
  memory: () => Promise<MemoryUse>;
  cpu: () => Promise<number>;
}

interface Cost {
  /** Of each stream. */
  memory: MemoryUse;
  cpuPerSecond: number;
}

const count = 1_000;

export async function idleStreams({ dependencies, client, samples }: BenchSetup): Promise<Section> {
  await using fresh = await setUp(dependencies, client, samples);
  const { service, floor } = fresh;
  const user = await fresh.newUser();
  const conversations = await idleConversations(fresh, user.name);
  const ours = await measure({
    url: (index) => `${service.baseUrl}/run/v1/conversations/${conversations[index]}/events?after=latest`,
    headers: user.headers,
    memory: () => service.inside('memory'),
    cpu: () => service.inside('cpu'),
  });
  const { url } = await floor.streams();
  const bare = await measure({
    url: () => url,
    memory: () => floor.memory(),
    cpu: async () => (await floor.cpu()).milliseconds,
  });
  return {
    title: `${count} idle streams`,
    rows: [
      {
        name: 'idle stream, in use',
        meaning:
          'memory in use that each open feed of a conversation of its own adds, against a bare Fastify event stream',
        ours: [ours.memory.inUse / 1024],
        floor: [bare.memory.inUse / 1024],
        unit: 'KiB',
      },
      {
        name: 'idle stream, resident',
        meaning: 'the same, of resident memory: noise, as long as the process has room to spare',
        ours: [ours.memory.resident / 1024],
        floor: [bare.memory.resident / 1024],
        unit: 'KiB',
      },
      {
        name: 'processor, each second',
        meaning: `processor time that ${count} of them take while nothing happens, against the bare ones`,
        ours: [ours.cpuPerSecond],
        floor: [bare.cpuPerSecond],
        unit: 'ms',
      },
    ],
  };
}

async function measure({ memory, cpu, ...stream }: Subject): Promise<Cost> {
  // What the first streams of a process load is not the price of a stream.
  const first = await openStreams({ ...stream, count: 50 });
  first.close();
  const before = await memory();
  const streams = await openStreams({ ...stream, count });
  const after = await memory();
  const cpuBefore = await cpu();
  await sleep(idleMs);
  const cpuPerSecond = ((await cpu()) - cpuBefore) / (idleMs / 1000);
  streams.close();
  const each = (of: keyof MemoryUse) => (after[of] - before[of]) / count;
  return { memory: { resident: each('resident'), inUse: each('inUse') }, cpuPerSecond };
}

/** Conversations of this user in which one turn has ended. */
async function idleConversations({ service }: BenchSetup, user: string): Promise<string[]> {
  const { turns } = service.storage;
  const conversations = Array.from({ length: count }, () => randomUUID());
  for (const conversation of conversations) {
    const turn = { tenant, conversation, turnId: randomUUID() };
    const rest = { agent: 'assistant', capabilities: { url: false, form: false } };
    await turns.prepare(
      { ...turn, ...rest, user, clientMessageId: 'first', messages: [] },
      { onBusy: 'refuse', resultOf: unfinishedCallResult },
    );
    await turns.begin(turn);
    await turns.end(turn, 'completed');
  }
  return conversations;
}
