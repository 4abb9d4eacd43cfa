/**
 * An attempt at a server's tool: one request after the other, until one of them says how the attempt ends. Nothing is
 * sent twice unless the tool is declared repeatable, or the server certainly did nothing with the first request.
 */
import type { Credential } from '../../credentials/store.ts';
import { pageNotOpenedForModel, unknownOutcomeForModel } from '../../elicitation/wording.ts';
import type { Continuation } from '../../remote/tool-call.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import { finishCall } from './attempt.ts';
import type { CallServerParts, ServerAttempt, ToolRequest } from './attempt.ts';
import { concludeRequest } from './conclude-request.ts';
import type { NextRequest } from './conclude-request.ts';
import type { Round } from './rounds.ts';
import { sendRequest } from './send-request.ts';

/** `answered`: the latest round that has its answers, which the call goes on from. */
export async function callServer(
  parts: CallServerParts,
  attempt: ServerAttempt,
  credential: Credential,
  answered: Round | undefined,
): Promise<AttemptResult> {
  const notOpened = outcomeOfPageNotOpened(attempt, answered);
  if (notOpened) return finishCall(parts, attempt, pageNotOpenedForModel(notOpened, attempt.server.title));
  let next: NextRequest | AttemptResult = {
    kind: 'next-request',
    request: {
      credential,
      continuation: answered && (await continuationOf(parts, attempt, answered)),
      answered,
      isRenewed: false,
      isRestarted: answered?.isRestarted === true,
    },
  };
  while (next.kind === 'next-request') next = await makeRequest(parts, attempt, next.request);
  return next;
}

async function makeRequest(
  parts: CallServerParts,
  attempt: ServerAttempt,
  request: ToolRequest,
): Promise<NextRequest | AttemptResult> {
  const { input, by, server, call } = attempt;
  const { backoff } = parts.catalogue;
  // Over the network each attempt costs next to nothing, and one connection's trouble is not another's.
  const trouble = server.process && request.continuation === undefined ? backoff.reason(server) : null;
  if (trouble !== null && call.state === 'requested')
    return finishCall(
      parts,
      attempt,
      `${trouble} It was tried a moment ago, and not again. The tool did not run.`,
    );
  const isFirst = await parts.storage.toolCalls.start(input.turn, input.toolCallId, by);
  // A stream that is taken up again tells what became of the call: nothing is sent twice.
  const canRepeat =
    attempt.isRepeatable || ['detached', 'task'].includes(request.continuation?.resume.kind ?? '');
  if (!isFirst && !canRepeat) return finishCall(parts, attempt, unknownOutcomeForModel(server.title));
  const sent = await sendRequest(parts, attempt, { ...request, mayBeSent: !isFirst });
  if (server.process && sent.outcome.kind === 'unreachable') backoff.failed(server, sent.outcome.message);
  if (sent.outcome.kind === 'result') backoff.reached(server);
  return concludeRequest(parts, attempt, { ...request, ...sent, isFirst });
}

/** Where a server has refused the call until pages are done: what became of the first one that is not. */
function outcomeOfPageNotOpened({ input }: ServerAttempt, answered: Round | undefined) {
  if (answered?.resume.kind !== 'again') return undefined;
  const pages = new Set(answered.questions.map(({ elicitationId }) => elicitationId));
  for (const { elicitationId, outcome } of input.answers)
    if (outcome !== 'accept' && pages.has(elicitationId)) return outcome;
  return undefined;
}

async function continuationOf(
  { rounds }: CallServerParts,
  { input }: ServerAttempt,
  answered: Round,
): Promise<Continuation> {
  const { resume } = answered;
  // The server has refused the call and knows of no questions.
  const answers = resume.kind === 'again' ? [] : await rounds.answersTo(answered, input.answers);
  return { resume, answers };
}
