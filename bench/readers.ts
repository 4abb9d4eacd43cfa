/** What the hundredth viewer of one turn costs. */
import { say, tokensIn } from './doubles/model.ts';
import type { Section } from './report.ts';
import { breath } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import { openStreams } from './streams.ts';

const viewers = 100;
const tokens = 100;
const everyMs = 30;

interface Watched {
  /** Of each token, from the model to each viewer, in milliseconds. */
  delays: number[];
  /** Processor time of the process that serves the streams, in milliseconds. */
  cpu: number;
  /** Reads of the turn log for each write to it. */
  readsPerAppend: number;
}

export async function readers(setup: BenchSetup): Promise<Section> {
  const rounds = setup.samples < 30 ? 2 : 5;
  const one: Watched[] = [];
  const many: Watched[] = [];
  const bare: { one: number[]; many: number[] } = { one: [], many: [] };
  for (let round = 0; round < rounds; round++) {
    one.push(await watch(setup, 1));
    many.push(await watch(setup, viewers));
    bare.one.push(await broadcast(setup, 1));
    bare.many.push(await broadcast(setup, viewers));
  }
  const perToken = (oneCpu: number[], manyCpu: number[]) =>
    manyCpu.map((cpu, round) => ((cpu - (oneCpu[round] ?? NaN)) * 1000) / (viewers - 1) / tokens);
  const cpuOf = (watched: Watched[]) => watched.map(({ cpu }) => cpu);
  return {
    title: `${viewers} viewers of one turn`,
    rows: [
      {
        name: 'token',
        meaning: `each of ${tokens} tokens, ${everyMs} ms apart, from the model to each of ${viewers} viewers, against one viewer`,
        ours: many.flatMap(({ delays }) => delays),
        floor: one.flatMap(({ delays }) => delays),
        unit: 'ms',
      },
      {
        name: 'token and viewer',
        meaning:
          'processor time for each token and viewer beyond the first, against a bare Fastify stream of the same text',
        ours: perToken(cpuOf(one), cpuOf(many)),
        floor: perToken(bare.one, bare.many),
        unit: 'µs',
      },
      {
        name: 'reads per write',
        meaning: `reads of the log in the database for each write to it, against one viewer`,
        ours: many.map(({ readsPerAppend }) => readsPerAppend),
        floor: one.map(({ readsPerAppend }) => readsPerAppend),
        unit: 'reads',
      },
    ],
  };
}

async function watch(
  { service, dependencies: { model }, newUser }: BenchSetup,
  count: number,
): Promise<Watched> {
  const user = await newUser();
  const conversation = await user.begin(say.tokens(tokens, everyMs));
  const heardAt: number[][] = [];
  const streams = await openStreams({
    count,
    url: () => `${service.baseUrl}/run/api/chat/${conversation}/stream`,
    headers: user.headers,
    heard(text, viewer) {
      const at = performance.now();
      for (const token of tokensIn(text)) (heardAt[viewer] ??= [])[token] = at;
    },
  });
  await breath();
  const cpuBefore = await service.inside('cpu');
  const before = await service.inside('statements');
  model.begin();
  await streams.ended;
  const cpu = (await service.inside('cpu')) - cpuBefore;
  const after = await service.inside('statements');
  streams.close();
  const { tokensAt } = model;
  if (heardAt.length !== count || heardAt.some(({ length }) => length !== tokens))
    throw new Error('somebody did not hear every token');
  return {
    delays: heardAt.flatMap((times) => times.map((at, token) => at - (tokensAt[token] ?? NaN))),
    cpu,
    readsPerAppend: (after.reads - before.reads) / (after.appends - before.appends),
  };
}

/** Processor time of the floor for the same text to as many streams, in milliseconds. */
async function broadcast({ floor }: BenchSetup, count: number): Promise<number> {
  const { url } = await floor.streams();
  const streams = await openStreams({ count, url: () => url });
  await breath();
  const { cpu } = await floor.broadcast({ tokens, everyMs });
  await streams.ended;
  streams.close();
  return cpu;
}
