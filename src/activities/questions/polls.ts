/** What is polled while a question is open, and when first. The polls are rows; `polling/` runs them. */
import type { NewPoll } from '../../storage/ports/polls.ts';
import type { ExpectedConnection } from '../../turn/ask.ts';
import type { RoundRef } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import type { Round } from '../call-tool/rounds.ts';

/** Sooner than the timeout of stock servers (a minute), and later than most people answer. */
const firstStreamPollMs = 15_000;

/** Nobody opens a page, signs in and is done any sooner. */
const firstPagePollMs = 1_000;

/**
 * One poll for all questions of a round. Undefined where polling has no use: the server keeps no state, or its request is
 * still open.
 */
export function pollOfRound(call: RoundRef, { resume }: Round): NewPoll | undefined {
  const id = `${call.turn.turnId}/${call.toolCallId}/${call.round}`;
  const subject = { ...call, turn: idsOf(call.turn) };
  if (resume.kind === 'detached')
    return { id, subject: { kind: 'stream', ...subject }, firstMs: firstStreamPollMs };
  if (resume.kind === 'task')
    return {
      id,
      subject: { kind: 'stream', ...subject },
      firstMs: resume.task.asked?.mode === 'url' ? firstPagePollMs : firstStreamPollMs,
    };
  // A page may be done at any moment.
  if (resume.kind === 'again' && resume.session)
    return { id, subject: { kind: 'pages', ...subject }, firstMs: 0 };
  return undefined;
}

export function pollOfConnection(elicitationId: string, expected: ExpectedConnection): NewPoll {
  const subject = { kind: 'connection' as const, ...expected, turn: idsOf(expected.turn) };
  return { id: elicitationId, subject, firstMs: 0 };
}

/** Only the members of `Turn`: workflows pass their whole input. */
function idsOf({ tenant, conversation, turnId, agent, user, capabilities, delegation }: Turn): Turn {
  return { tenant, conversation, turnId, agent, user, capabilities, ...(delegation && { delegation }) };
}
