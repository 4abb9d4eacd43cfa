/** Puts a server's own question to the user, as the call's round has kept it. */
import type { Context } from '../../elicitation/elicitation.ts';
import { inspectUrl } from '../../elicitation/url-safety.ts';
import type { NewQuestion, OpenResult, ServerAsk } from '../../turn/ask.ts';
import { lookAtRound } from './looks.ts';
import { contextOf, openQuestion, serverOf } from './open-question.ts';
import type { QuestionParts } from './open-question.ts';

export async function openServerQuestion(
  parts: QuestionParts,
  input: NewQuestion<ServerAsk>,
): Promise<OpenResult> {
  const { turn, elicitationId, ask } = input;
  const { toolCallId, server, round: number } = ask;
  const round = (await parts.rounds.list(turn, toolCallId))[number - 1];
  if (!round) {
    // A worker that died while it opened this left it to be seen: it has to be closed, as any other.
    const isSeen = (await parts.storage.elicitations.get(elicitationId)) !== null;
    return isSeen ? { kind: 'opened', connectedVersion: null } : { kind: 'call-ended' };
  }
  const asked = round.questions.find((question) => question.elicitationId === elicitationId)?.request;
  if (!asked) throw new Error(`Question ${elicitationId} is not in round ${number} of its tool call.`);
  const warnings = asked.mode === 'url' ? warningsAbout(asked.url) : [];
  const context: Context = {
    ...contextOf(parts, serverOf(parts, server), turn),
    trigger: 'mcp_elicitation',
    toolName: ask.tool,
    toolCallId,
    ...(warnings.length > 0 && { warnings }),
  };
  const request = { ...asked, context };
  const look = lookAtRound({ turn, toolCallId, server, round: number }, round);
  const kind = await openQuestion(parts, input, { request, server: null, seenVersion: null }, look);
  return kind === 'opened' ? { kind, connectedVersion: null } : { kind };
}

function warningsAbout(url: string) {
  const inspected = inspectUrl(url);
  return inspected.kind === 'ok' ? inspected.warnings : [];
}
