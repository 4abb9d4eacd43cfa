/** Puts the question of a tool in TypeScript to the user, as its author wrote it. */
import type { Context, ElicitationRequest } from '../../elicitation/elicitation.ts';
import { warningsAbout } from '../../elicitation/url-safety.ts';
import type { NewQuestion, OpenResult, ToolAsk } from '../../turn/ask.ts';
import { agentContext, openQuestion } from './open-question.ts';
import type { QuestionParts } from './open-question.ts';

export async function openToolQuestion(
  parts: QuestionParts,
  input: NewQuestion<ToolAsk>,
): Promise<OpenResult> {
  const { turn, elicitationId, workflowId, ask, request: asked } = input;
  if (!asked) throw new Error(`Question ${elicitationId} of ${ask.tool} does not say what it asks.`);
  const { toolTitle, ...question } = asked;
  const secret = parts.config.agents.get(turn.agent)?.tools?.completionSecretEnv;
  if (question.mode === 'url' && secret === undefined) return { kind: 'page-cannot-report' };
  const warnings = question.mode === 'url' ? warningsAbout(question.url) : [];
  const context: Context = {
    ...agentContext(parts, turn),
    trigger: 'tool_elicitation',
    toolName: ask.tool,
    toolTitle,
    toolCallId: ask.toolCallId,
    ...(warnings.length > 0 && { warnings }),
  };
  const request: ElicitationRequest = { ...question, context };
  const opened = await openQuestion(parts, input, { request, server: null, seenVersion: null }, undefined);
  if (opened.kind !== 'opened') return opened;
  // Its author may have chosen the id, and somebody else's question has it.
  const row = await parts.storage.elicitations.get(elicitationId);
  return row?.workflowId === workflowId ? opened : { kind: 'call-ended' };
}
