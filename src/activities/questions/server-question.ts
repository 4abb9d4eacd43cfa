/** The questions that a server asks in the middle of a call: those of one round, and what is polled while they are open. */
import type { ServerConfig } from '../../config/config.ts';
import type { Context } from '../../elicitation/elicitation.ts';
import { warningsAbout } from '../../elicitation/url-safety.ts';
import type { NewPoll } from '../../storage/ports/polls.ts';
import type { RoundRef } from '../../turn/tool-call.ts';
import type { Round } from '../call-tool/rounds.ts';
import { serverContext, turnOf } from './questions.ts';
import type { AskingCall, Question, QuestionParts } from './questions.ts';

/** Sooner than the timeout of stock servers (a minute), and later than most people answer. */
const firstStreamPollMs = 15_000;

/** The soonest that people open a page, sign in and are done. */
const firstPagePollMs = 1_000;

/** The questions of a round that have no answer yet. `number` counts the call's rounds from 1. */
export function questionsOfRound(
  parts: Pick<QuestionParts, 'config'>,
  { turn, toolCallId }: AskingCall,
  { server, tool }: { server: ServerConfig; tool: string },
  round: Round,
  number: number,
): Question[] {
  const poll = pollOfRound({ turn, toolCallId, server: server.name, round: number }, round);
  return round.questions.flatMap((question, index) => {
    const { elicitationId: id, request, trigger = 'mcp_elicitation', expiresAt, isAnswered } = question;
    if (isAnswered) return [];
    const warnings = request.mode === 'url' ? warningsAbout(request.url) : [];
    const context: Context = {
      ...serverContext(parts, turn, server),
      trigger,
      // A remote agent is one tool, whose name means nothing to people.
      ...(trigger === 'mcp_elicitation' && { toolName: tool }),
      toolCallId,
      ...(warnings.length > 0 && { warnings }),
    };
    return {
      id,
      place: `round/${turn.turnId}/${toolCallId}/${number}/${index}`,
      request: { ...request, context },
      isReported: isReported(round.resume),
      expiresAt,
      poll,
    };
  });
}

/** Only an agent with the extension says by itself that its page is done. Any other may be waiting for a message. */
function isReported(resume: Round['resume']): boolean {
  return (
    resume.kind === 'task' &&
    resume.task.asked?.mode === 'url' &&
    resume.task.asked.elicitationId !== undefined
  );
}

/**
 * One poll for all questions of a round. Undefined where polling has no use: the server keeps no state, or its request is
 * still open.
 */
export function pollOfRound(call: RoundRef, { resume }: Round): NewPoll | undefined {
  const id = `${call.turn.turnId}/${call.toolCallId}/${call.round}`;
  const subject = { ...call, turn: turnOf(call.turn) };
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
