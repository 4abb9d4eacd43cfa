/** What happens to an installation in a chaos run: made from a seed and nothing else, so that it can be repeated. */
import { lineNames } from './lines.ts';
import type { LineName } from './lines.ts';

type Entry = 'server' | 'worker';
type Place = 0 | 1;

export type Fault =
  | { kind: 'Temporal down'; ms: number }
  | { kind: 'PostgreSQL down'; ms: number; how: 'in order' | 'crashes' }
  | { kind: 'deploy' }
  | { kind: 'roll back' }
  | { kind: 'kill'; of: Entry; place: Place }
  | { kind: 'freeze'; of: Entry; place: Place; ms: number }
  | { kind: 'cut connections'; to: LineName }
  | { kind: 'restart the pooler'; ms: number }
  | { kind: 'servers away'; ms: number }
  | { kind: 'model away'; ms: number }
  | { kind: 'shift a clock'; of: Entry; place: Place; minutes: 5 | -5 }
  | { kind: 'rotate the password'; learntAfterMs: number };

export interface Step {
  faults: Fault[];
  /** How long after its beginning users act. */
  workAfterMs: number;
}

export interface PlanOptions {
  steps: number;
  longestAwayMs: number;
}

export type Random = () => number;

/** mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value = (value + Math.imul(value ^ (value >>> 7), value | 61)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(random: Random, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)] as T;

/** Each kind, and what it happens to: two faults at once never happen to the same. */
const subjects: Record<Fault['kind'], string> = {
  'Temporal down': 'Temporal',
  'PostgreSQL down': 'PostgreSQL',
  'rotate the password': 'PostgreSQL',
  deploy: 'release',
  'roll back': 'release',
  kill: 'process',
  freeze: 'process',
  'cut connections': 'connections',
  'restart the pooler': 'pooler',
  'servers away': 'servers',
  'model away': 'model',
  'shift a clock': 'clock',
};

/** Some steps are two faults at once: Temporal goes away in the middle of a deploy. */
const twoAtOnce = 1 / 3;
/** Model calls are repeated for a quarter of a minute; after that, the turn fails. */
const longestModelAwayMs = 6_000;

export function planOf(seed: number, { steps, longestAwayMs }: PlanOptions): Step[] {
  const random = randomFrom(seed);
  const away = () => Math.round(1_000 + random() * (longestAwayMs - 1_000));
  const one = () => ({
    of: pick(random, ['server', 'worker'] as const),
    place: pick(random, [0, 1] as const),
  });
  const fault = (kind: Fault['kind']): Fault => {
    switch (kind) {
      case 'Temporal down':
        return { kind, ms: away() };
      case 'PostgreSQL down':
        return { kind, ms: Math.round(away() / 3), how: pick(random, ['in order', 'crashes'] as const) };
      case 'deploy':
      case 'roll back':
        return { kind };
      case 'kill':
        return { kind, ...one() };
      case 'freeze':
        return { kind, ...one(), ms: away() };
      case 'cut connections':
        return { kind, to: pick(random, lineNames) };
      case 'restart the pooler':
      case 'servers away':
        return { kind, ms: Math.round(away() / 3) };
      case 'model away':
        return { kind, ms: Math.min(away(), longestModelAwayMs) };
      case 'shift a clock':
        return { kind, ...one(), minutes: pick(random, [5, -5] as const) };
      case 'rotate the password':
        return { kind, learntAfterMs: Math.round(random() * 10_000) };
      default:
        return kind satisfies never;
    }
  };
  // Every kind once before any comes again.
  let queue: Fault['kind'][] = [];
  let deployed = 0;
  const next = (): Fault => {
    if (queue.length === 0) queue = shuffled(random, Object.keys(subjects) as Fault['kind'][]);
    const kind = queue.shift() as Fault['kind'];
    if (kind === 'deploy') deployed++;
    if (kind !== 'roll back' || deployed > 0) return fault(kind);
    // There is nothing to go back to yet.
    deployed++;
    return fault('deploy');
  };
  let left: Fault | undefined;
  return Array.from({ length: steps }, () => {
    const faults = [left ?? next()];
    left = undefined;
    if (random() < twoAtOnce) {
      const second = next();
      // What cannot happen now is the next step.
      if (subjects[second.kind] === subjects[faults[0]?.kind ?? 'deploy']) left = second;
      else faults.push(second);
    }
    return { faults, workAfterMs: Math.round(random() * 4_000) };
  });
}

export function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ value }) => value);
}

export function toWords(fault: Fault): string {
  switch (fault.kind) {
    case 'Temporal down':
    case 'restart the pooler':
    case 'servers away':
    case 'model away':
      return `${fault.kind} ${inSeconds(fault.ms)}`;
    case 'PostgreSQL down':
      return `PostgreSQL down ${inSeconds(fault.ms)} (${fault.how})`;
    case 'kill':
      return `kill ${fault.of} ${fault.place}`;
    case 'freeze':
      return `freeze ${fault.of} ${fault.place} ${inSeconds(fault.ms)}`;
    case 'cut connections':
      return `cut connections to ${fault.to}`;
    case 'shift a clock':
      return `clock of ${fault.of} ${fault.place} ${fault.minutes > 0 ? '+' : '−'}5 min`;
    case 'rotate the password':
      return `rotate the password (read after ${inSeconds(fault.learntAfterMs)})`;
    case 'deploy':
    case 'roll back':
      return fault.kind;
    default:
      return fault satisfies never;
  }
}

const inSeconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`;
