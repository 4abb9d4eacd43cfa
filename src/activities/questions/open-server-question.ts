/** Opens a server's own question. Its text is stored with the call's round. */
import type { Context } from '../../elicitation/elicitation.ts';
import { warningsAbout } from '../../elicitation/url-safety.ts';
import type { NewQuestion, OpenResult, ServerAsk } from '../../turn/ask.ts';
import { pollOfRound } from './polls.ts';
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
    // An earlier attempt may have written the question before its worker died: then it is open and has to be settled.
    const isSeen = (await parts.storage.elicitations.get(elicitationId)) !== null;
    return isSeen ? { kind: 'opened', connectedVersion: null } : { kind: 'call-ended' };
  }
  const question = round.questions.find((one) => one.elicitationId === elicitationId);
  if (!question) throw new Error(`Question ${elicitationId} is not in round ${number} of its tool call.`);
  const { request: asked, trigger = 'mcp_elicitation' } = question;
  const warnings = asked.mode === 'url' ? warningsAbout(asked.url) : [];
  const context: Context = {
    ...contextOf(parts, serverOf(parts, server), turn),
    trigger,
    // An agent is one tool, whose name nobody has given it.
    ...(trigger === 'mcp_elicitation' && { toolName: ask.tool }),
    toolCallId,
    ...(warnings.length > 0 && { warnings }),
  };
  const request = { ...asked, context };
  const poll = pollOfRound({ turn, toolCallId, server, round: number }, round);
  return openQuestion(parts, input, { request, server: null, seenVersion: null }, poll);
}
