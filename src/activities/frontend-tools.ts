/**
 * Tools of the front end: an AG-UI client brings them with the user's message, the model calls them, and the client runs
 * them. A call is a question whose answer is the tool's result. Agents have them if the agents file says so.
 */
import { frontendCallMessage } from '@interlude-ai/core/elicitation/wording.ts';
import type { AgentConfig } from '../platform/config/config.ts';
import type { StoredMessage, ToolCallRow } from '../storage/schema/turn-tables.ts';
import { frontendResultForm, frontendResultIn } from '../turn/frontend-result.ts';
import { frontendToolsIn } from '../turn/message-parts.ts';
import type { ToolResult } from '../turn/tool-result.ts';
import { agentContext } from './questions.ts';
import type { AskingCall, Question, QuestionParts } from './questions.ts';

/** A tool of the front end as the model is offered it. */
export interface OfferedFrontendTool {
  modelName: string;
  description: string;
  inputSchema: Record<string, unknown>;
  isFrontend: true;
}

/** Those that came with the message that began the turn. A delegated agent has none, because its message is a task. */
export function offeredFrontendTools(agent: AgentConfig, messages: StoredMessage[]): OfferedFrontendTool[] {
  if (!agent.frontendTools) return [];
  const message = messages.findLast(({ role }) => role === 'user');
  return frontendToolsIn(message?.content).map(({ name, description, parameters }) => ({
    modelName: name,
    description,
    inputSchema: parameters,
    isFrontend: true,
  }));
}

export function frontendQuestion(
  parts: QuestionParts,
  { turn, toolCallId }: AskingCall,
  { toolName }: ToolCallRow,
): Question {
  const context = {
    ...agentContext(parts, turn),
    trigger: 'frontend_tool' as const,
    toolName,
    toolCallId,
  };
  const message = frontendCallMessage(context.agent ?? turn.agent, toolName);
  return {
    place: `frontend/${turn.turnId}/${toolCallId}`,
    request: { mode: 'form', message, requestedSchema: frontendResultForm, context },
  };
}

export function frontendResult(content: Record<string, unknown>): ToolResult {
  const { text, isError } = frontendResultIn(content);
  return { kind: 'output', output: { content: [{ type: 'text', text }], ...(isError && { isError }) } };
}
