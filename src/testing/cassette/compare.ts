/** Whether what was said now is what was said when a cassette was recorded; what was redacted fits anything. */
import { diff } from 'node:util';
import { stringify } from 'yaml';
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import { redacted } from './cassette.ts';

export function isSame(recorded: unknown, now: unknown): boolean {
  if (typeof recorded === 'string' && recorded.includes(redacted)) return fitsRedacted(recorded, String(now));
  if (Array.isArray(recorded))
    return (
      Array.isArray(now) &&
      now.length === recorded.length &&
      recorded.every((item, at) => isSame(item, now[at]))
    );
  if (!isRecord(recorded)) return Object.is(recorded, now);
  if (!isRecord(now)) return false;
  const names = new Set([...Object.keys(recorded), ...Object.keys(now)]);
  return [...names].every((name) => isSame(recorded[name], now[name]));
}

function fitsRedacted(recorded: string, now: string): boolean {
  const parts = recorded.split(redacted);
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (!now.startsWith(first) || !now.endsWith(last) || now.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = now.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= now.length - last.length;
}

/** Lines that begin with `-` (recorded), `+` (now) or a space; long stretches without a change are left out. */
export function differenceOf(recorded: unknown, now: unknown): string[] {
  const text = (value: unknown) => stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
  const lines = diff(text(recorded), text(alike(recorded, now))).map(([sign, line]) => ({ sign, line }));
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ sign }) => sign !== 0);
  return lines.flatMap(({ sign, line }, at) => {
    if (isNear(at)) return [`${sign === 0 ? ' ' : sign > 0 ? '-' : '+'} ${line}`];
    return isNear(at - 1) && at > 0 ? ['  …'] : [];
  });
}

const context = 3;

/** What fits what was redacted is no difference. */
function alike(recorded: unknown, now: unknown): unknown {
  if (isSame(recorded, now)) return recorded;
  if (Array.isArray(now))
    return now.map((item, at) => alike(Array.isArray(recorded) ? recorded[at] : undefined, item));
  if (!isRecord(now) || !isRecord(recorded)) return now;
  // In the order of the recording, so that only what differs shows.
  const names = [
    ...Object.keys(recorded).filter((name) => name in now),
    ...Object.keys(now).filter((name) => !(name in recorded)),
  ];
  return Object.fromEntries(names.map((name) => [name, alike(recorded[name], now[name])]));
}
