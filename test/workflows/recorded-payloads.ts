/**
 * What recorded histories say of the contract between workflow code and its processes: the inputs that workflow code gave to
 * activities, the results that it got, and the signals that it was sent, one of each shape.
 */
import { createHash } from 'node:crypto';
import { recordedIn } from './recorded-histories.ts';

interface Payloads {
  payloads?: { data?: string }[];
}

interface Event {
  eventId: string;
  activityTaskScheduledEventAttributes?: { activityType: { name: string }; input?: Payloads };
  activityTaskCompletedEventAttributes?: { scheduledEventId: string; result?: Payloads };
  markerRecordedEventAttributes?: { markerName: string; details: { data: Payloads; result?: Payloads } };
  workflowExecutionSignaledEventAttributes?: { signalName: string; input?: Payloads };
}

/** Members whose value says which of several shapes it is. */
const tags = new Set(['kind', 'status', 'type', 'state', 'mode', 'action', 'phase', 'news', 'trigger']);

/** The text of a module in which the type checker compares each with today's types. */
export function contractModule(folder: string): string {
  const { names, recorded } = recordedIn(folder);
  const found = new Map<string, string>();
  const note = (type: string, value: unknown) => {
    if (value === undefined || value === null) return;
    const key = createHash('sha256')
      .update(`${type} ${shapeOf(value)}`)
      .digest('hex');
    if (!found.has(key)) found.set(key, `void (${JSON.stringify(value)} satisfies ${type});`);
  };
  for (const name of names) {
    const events = recorded(name).events as unknown as Event[];
    const activities = new Map<string, string>();
    for (const event of events) {
      const scheduled = event.activityTaskScheduledEventAttributes;
      if (scheduled) {
        activities.set(event.eventId, scheduled.activityType.name);
        note(`Input<'${scheduled.activityType.name}'>`, first(scheduled.input));
      }
      const completed = event.activityTaskCompletedEventAttributes;
      if (completed) note(`Result<'${activities.get(completed.scheduledEventId)}'>`, first(completed.result));
      const marker = event.markerRecordedEventAttributes;
      if (marker?.markerName === 'core_local_activity') {
        const { activity_type: type } = first(marker.details.data) as { activity_type: string };
        note(`Result<'${type}'>`, first(marker.details.result));
      }
      const signal = event.workflowExecutionSignaledEventAttributes;
      if (signal) note(`Signal<'${signal.signalName}'>`, first(signal.input));
    }
  }
  return [...header, ...[...found.values()].toSorted(), ''].join('\n');
}

const header = [
  '/** Made by `npm run record-histories`: see recorded-payloads.ts. A type error here means that processes of this release do',
  ' * not understand what code of the release before sends, or the reverse: see src/workflows/contract.ts. */',
  "import type { Input, Result, Signal } from './contract-types.ts';",
  '',
];

function first(payloads: Payloads | undefined): unknown {
  const data = payloads?.payloads?.[0]?.data;
  return data === undefined ? undefined : JSON.parse(Buffer.from(data, 'base64').toString('utf8'));
}

/** The same for values that differ in texts and numbers only. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].toSorted().join()}]`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const members = Object.entries(value).map(([name, member]) =>
    tags.has(name) ? `${name}=${JSON.stringify(member)}` : `${name}:${shapeOf(member)}`,
  );
  return `{${members.toSorted().join()}}`;
}
