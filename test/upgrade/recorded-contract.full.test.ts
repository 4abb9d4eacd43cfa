/**
 * What the release before recorded of its turns, read by the types of this one. Its workflows call this release's activities,
 * and this release's workflows may be run by its processes after a rollback: so its inputs have to be inputs of today, and its
 * results results of today. The type checker decides; nothing here knows what the values are.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as messages from '../../src/workflows/messages.ts';
import { baseline, isBaselineHere } from './baseline.ts';

const root = path.resolve(import.meta.dirname, '../..');
const histories = 'test/workflows/histories';
/** Inside the checkout: that is where types are found. */
const folder = path.join(root, `build/test-${randomUUID()}`);

interface Payloads {
  payloads?: { metadata: { encoding: string }; data?: string }[];
}
interface Event {
  eventId: string;
  activityTaskScheduledEventAttributes?: { activityType: { name: string }; input?: Payloads };
  activityTaskCompletedEventAttributes?: { scheduledEventId: string; result?: Payloads };
  markerRecordedEventAttributes?: { markerName: string; details: { data?: Payloads; result?: Payloads } };
  workflowExecutionSignaledEventAttributes?: { signalName: string; input?: Payloads };
}

interface Check {
  kind: keyof typeof kinds;
  name: string;
  /** As JSON. */
  value: string;
}

const checks: Check[] = [];
const kinds = { input: 0, result: 0, signal: 0 };

beforeAll(() => {
  if (!isBaselineHere) return;
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const files = git('ls-tree', '--name-only', baseline, `${histories}/`).split('\n');
  const seen = new Set<string>();
  const check = (kind: keyof typeof kinds, name: string, given: Payloads | undefined) => {
    const [payload] = given?.payloads ?? [];
    const value = payload?.data === undefined ? 'undefined' : decode(payload.data);
    const known = `${kind} ${name} ${value}`;
    if (seen.has(known)) return;
    seen.add(known);
    checks.push({ kind, name, value });
    kinds[kind]++;
  };
  for (const file of files.filter((one) => one.endsWith('.json'))) {
    const { events } = JSON.parse(git('show', `${baseline}:${file}`)) as { events: Event[] };
    for (const event of events) readEvent(event, events, check);
  }
  mkdirSync(folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function readEvent(
  event: Event,
  events: Event[],
  check: (kind: keyof typeof kinds, name: string, given: Payloads | undefined) => void,
): void {
  const {
    activityTaskScheduledEventAttributes: scheduled,
    activityTaskCompletedEventAttributes: completed,
    markerRecordedEventAttributes: marker,
    workflowExecutionSignaledEventAttributes: signaled,
  } = event;
  if (scheduled) check('input', scheduled.activityType.name, scheduled.input);
  if (completed) {
    const of = events.find(({ eventId }) => eventId === completed.scheduledEventId);
    check('result', of?.activityTaskScheduledEventAttributes?.activityType.name ?? '', completed.result);
  }
  if (marker?.markerName === 'core_local_activity' && marker.details.result) {
    const about = JSON.parse(decode(marker.details.data?.payloads?.[0]?.data ?? '')) as {
      activity_type: string;
    };
    check('result', about.activity_type, marker.details.result);
  }
  if (signaled) {
    const definitions = Object.entries(messages) as [string, { type?: string; name?: string }][];
    const defined = definitions.find(
      ([, { type, name }]) => type === 'signal' && name === signaled.signalName,
    );
    check('signal', defined?.[0] ?? `no signal ${signaled.signalName}`, signaled.input);
  }
}

const decode = (data: string) => Buffer.from(data, 'base64').toString();

/** Not literals, of which a type checker refuses what their reader would only ignore. */
function toStatements({ kind, name, value }: Check, index: number): string {
  const isPlain = value === 'undefined' || value === 'null';
  if (isPlain) return `${kind}('${name}', ${value});`;
  return `const v${index} = ${value} as const;\n${kind}('${name}', v${index});`;
}

/** What the type checker says. */
function complaints(lines: Check[]): string {
  const source = `
import type { SignalDefinition } from '@temporalio/workflow';
import type { Activities } from '../../src/activities/index.ts';
import type * as messages from '../../src/workflows/messages.ts';

type Recorded<T> = T extends object ? { readonly [K in keyof T]: Recorded<T[K]> } : T;
type Result<N extends keyof Activities> = Awaited<ReturnType<Activities[N]>>;
type Argument<S> = S extends SignalDefinition<infer A, string> ? (A extends [infer One] ? One : undefined) : never;
declare function input<N extends keyof Activities>(name: N, value: Recorded<Parameters<Activities[N]>[0]>): void;
declare function result<N extends keyof Activities>(name: N, value: Result<N> extends void ? undefined : Recorded<Result<N>>): void;
declare function signal<N extends keyof typeof messages>(name: N, value: Recorded<Argument<(typeof messages)[N]>>): void;

${lines.map(toStatements).join('\n')}
`;
  writeFileSync(path.join(folder, 'recorded.ts'), source);
  const settings = { extends: '../../tsconfig.json', include: ['recorded.ts'], exclude: [] };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(settings));
  try {
    execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test.skipIf(!isBaselineHere)(
  'activities and workflows of this release take what the release before recorded',
  () => {
    expect(Math.min(kinds.input, kinds.result, kinds.signal)).toBeGreaterThan(10);
    expect(complaints(checks)).toBe('');
  },
);

test.skipIf(!isBaselineHere)('a value that they do not take is named', () => {
  const call = checks.find(({ kind, name }) => kind === 'input' && name === 'callTool');
  const value = call?.value.replace('"toolCallId"', '"toolCall"') ?? '';
  expect(complaints([{ kind: 'input', name: 'callTool', value }])).toContain("'toolCallId' is missing");
  const result: Check = { kind: 'result', name: 'callModel', value: '{"finish":"perhaps"}' };
  expect(complaints([result])).toContain('perhaps');
});
