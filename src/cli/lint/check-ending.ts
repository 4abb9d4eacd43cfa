/** How a call ended whose questions were declined or cancelled: what a client would make of that. Pure. */
import type { ToolCallReport } from '../../testing/call/call-events.ts';
import { couldNotAsk } from '../../remote/mcp/could-not-ask.ts';
import { textOfEnd } from '../../testing/matchers/text-of-end.ts';
import type { Seen } from './rules.ts';

/** As programs put it that did not expect to have no content. */
const crash =
  /TypeError|KeyError|AttributeError|ReferenceError|NullPointer|nil pointer|Cannot (?:read|destructure) propert|of undefined|NoneType|is not iterable|Traceback|ZodError|validation error/i;
const internalError = -32603;

export function checkEnding(action: 'decline' | 'cancel', { end, rounds }: ToolCallReport): Seen[] {
  if (rounds.length === 0) return [];
  const did = action === 'decline' ? 'declined' : 'cancelled';
  const question = rounds.at(-1)?.questions[0]?.request.message ?? '';
  const seen = (message: string): Seen[] => [{ rule: 'no-decline-path', question, message }];
  switch (end.kind) {
    case 'result':
      return end.result.isError === true && crash.test(textOfEnd(end))
        ? seen(`It breaks when its question is ${did}: ${short(textOfEnd(end))}`)
        : [];
    case 'error':
      return end.code === internalError
        ? seen(`It breaks when its question is ${did}: ${short(end.message)} (${end.code}).`)
        : [];
    case 'unanswered':
      return seen(`It asks ${rounds.length} times and more, though each question is ${did}.`);
    case 'timeout':
      return seen(
        `It ${end.of === 'silence' ? 'says nothing' : 'comes to no result'} for ${end.afterMs / 1_000} s when its question is ${did}.`,
      );
    case 'fault':
    case 'stopped':
      return [];
    default:
      return end satisfies never;
  }
}

/** The tool asks in the way of the other era: clients that speak this one never see its question. */
export function checkEra({ end, era }: ToolCallReport): Seen[] {
  const answer = end.kind === 'error' ? { error: end } : end;
  if ((end.kind !== 'error' && end.kind !== 'result') || !couldNotAsk(answer)) return [];
  const words = end.kind === 'error' ? end.message : textOfEnd(end);
  return [
    {
      rule: 'asks-in-other-era',
      message: `It fails because it asks in a way that ${era === 'modern' ? '2026-07-28' : '2025-11-25'} does not have: ${short(words)}`,
    },
  ];
}

/** The same result, whether its questions were declined or answered. */
export function checkIgnored(declined: ToolCallReport, answered: ToolCallReport): Seen[] {
  const accepted = answered.rounds.some(({ answers }) => answers.some(({ action }) => action === 'accept'));
  const [one, other] = [declined.end, answered.end];
  if (!accepted || one.kind !== 'result' || other.kind !== 'result' || one.result.isError === true) return [];
  if (JSON.stringify(one.result) !== JSON.stringify(other.result)) return [];
  const question = declined.rounds[0]?.questions[0]?.request.message ?? '';
  return [
    {
      rule: 'decline-ignored',
      question,
      message: 'It says the same when its question is declined as when it is answered.',
    },
  ];
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
