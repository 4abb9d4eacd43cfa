/** What happens to an installation in a chaos run: made from a seed and nothing else, so that it can be repeated. */

export type Fault =
  | { kind: 'Temporal down'; ms: number }
  | { kind: 'PostgreSQL down'; ms: number; how: 'in order' | 'crashes' }
  | { kind: 'deploy' }
  | { kind: 'roll back' }
  | { kind: 'kill a worker'; place: 0 | 1 }
  | { kind: 'shift a clock'; of: 'server' | 'worker'; place: 0 | 1; minutes: 5 | -5 }
  | { kind: 'rotate the password'; learntAfterMs: number };

export interface Step {
  faults: Fault[];
  /** How long after its beginning answers and new messages are sent. */
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

const faultKinds: Fault['kind'][] = [
  'Temporal down',
  'PostgreSQL down',
  'deploy',
  'roll back',
  'kill a worker',
  'shift a clock',
  'rotate the password',
];

/** Some steps are two faults at once: Temporal goes away in the middle of a deploy. */
const twoAtOnce = 1 / 3;

export function planOf(seed: number, { steps, longestAwayMs }: PlanOptions): Step[] {
  const random = randomFrom(seed);
  const away = () => Math.round(1_000 + random() * (longestAwayMs - 1_000));
  const place = () => pick(random, [0, 1] as const);
  const fault = (kind: Fault['kind']): Fault => {
    switch (kind) {
      case 'Temporal down':
        return { kind, ms: away() };
      case 'PostgreSQL down':
        return { kind, ms: Math.round(away() / 3), how: pick(random, ['in order', 'crashes'] as const) };
      case 'deploy':
      case 'roll back':
        return { kind };
      case 'kill a worker':
        return { kind, place: place() };
      case 'shift a clock':
        return {
          kind,
          of: pick(random, ['server', 'worker'] as const),
          place: place(),
          minutes: pick(random, [5, -5] as const),
        };
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
    if (queue.length === 0) queue = shuffled(random, faultKinds);
    const kind = queue.shift() as Fault['kind'];
    if (kind === 'deploy') deployed++;
    if (kind !== 'roll back' || deployed > 0) return fault(kind);
    // There is nothing to go back to yet.
    deployed++;
    return fault('deploy');
  };
  return Array.from({ length: steps }, () => {
    const first = next();
    const faults = [first];
    if (random() < twoAtOnce) {
      const second = next();
      if (mayMeet(first, second)) faults.push(second);
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

/** A release is rolled out by one operator at a time, and a server that is stopped cannot be stopped. */
function mayMeet(one: Fault, other: Fault): boolean {
  const subject = ({ kind }: Fault) =>
    ({
      'Temporal down': 'Temporal',
      'PostgreSQL down': 'PostgreSQL',
      'rotate the password': 'PostgreSQL',
      deploy: 'release',
      'roll back': 'release',
      'kill a worker': 'process',
      'shift a clock': 'clock',
    })[kind];
  return subject(one) !== subject(other);
}

export function toWords(fault: Fault): string {
  switch (fault.kind) {
    case 'Temporal down':
      return `Temporal down ${(fault.ms / 1000).toFixed(0)} s`;
    case 'PostgreSQL down':
      return `PostgreSQL down ${(fault.ms / 1000).toFixed(0)} s (${fault.how})`;
    case 'kill a worker':
      return `kill worker ${fault.place}`;
    case 'shift a clock':
      return `clock of ${fault.of} ${fault.place} ${fault.minutes > 0 ? '+' : '−'}5 min`;
    case 'rotate the password':
      return `rotate the password (read after ${(fault.learntAfterMs / 1000).toFixed(0)} s)`;
    case 'deploy':
    case 'roll back':
      return fault.kind;
    default:
      return fault satisfies never;
  }
}
