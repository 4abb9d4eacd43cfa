/** The tools that a front end brings, and the results that it sends. Pure. */
import type { AgUiRun } from '@interlude-ai/core/contract/ag-ui.ts';
import type { Context } from '@interlude-ai/core/elicitation/elicitation.ts';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { isDeeperThan, isLargerThan } from '@interlude-ai/core/elicitation/json-size.ts';
import type { AgentConfig } from '../../platform/config/config.ts';
import { longestFrontendResult } from '../../turn/frontend-result.ts';
import type { FrontendResult } from '../../turn/frontend-result.ts';
import type { FrontendTool } from '../../turn/message-parts.ts';
import { invalidRequest } from '../http/problems.ts';
import { isOwnMessage } from './translate.ts';

type Message = AgUiRun['messages'][number];

/** Of all definitions of a run together, in characters of JSON: each model step reads them. */
const mostCharacters = 32_000;
const deepest = 16;

export function isFrontendCall({ trigger }: Pick<Context, 'trigger'>): boolean {
  return trigger === 'frontend_tool';
}

/** Throws a 400 that points at what is wrong. */
export function readFrontendTools({ tools: given }: AgUiRun, agent: AgentConfig): FrontendTool[] {
  const tools = given ?? [];
  const refuse = (pointer: string, detail: string) => invalidRequest([{ pointer, detail }]);
  if (tools.length > 0 && !agent.frontendTools)
    throw refuse('/tools', 'this agent takes no tools of a front end (frontendTools in the agents file)');
  if (isLargerThan(tools, mostCharacters))
    throw refuse('/tools', `together they have more than ${mostCharacters} characters`);
  return tools.map(({ name, description, parameters }, index) => {
    const at = `/tools/${index}`;
    if (name.includes('__') || name.startsWith('connect_') || name === 'ask_user')
      throw refuse(`${at}/name`, 'names with "__" or "connect_", and "ask_user", are for tools of the agent');
    if (tools.findIndex((other) => other.name === name) !== index)
      throw refuse(`${at}/name`, 'another tool has this name');
    if (isDeeperThan(parameters, deepest))
      throw refuse(`${at}/parameters`, `it is nested deeper than ${deepest} levels`);
    const { type = 'object', ...schema } = parameters ?? {};
    if (type !== 'object') throw refuse(`${at}/parameters/type`, 'send the schema of an object');
    return { name, description, parameters: { type, properties: {}, ...schema } };
  });
}

/** A result at the end of the messages that the client sent. */
export interface GivenResult extends FrontendResult {
  toolCallId: string;
  /** JSON pointer to its message. */
  at: string;
}

/** What the client has of its own after everything that it has from agents. Results of our tools are not read. */
export function readResults({ messages }: AgUiRun): GivenResult[] {
  const last = messages.findLastIndex(({ role }) => !after.includes(role));
  const results = messages.flatMap((message, index): GivenResult[] => {
    if (index < last || message.role !== 'tool' || isOwnMessage(message.id)) return [];
    return [readResult(message, `/messages/${index}`)];
  });
  const seen = new Set<string>();
  for (const { toolCallId, at } of results) {
    if (seen.has(toolCallId))
      throw invalidRequest([{ pointer: `${at}/toolCallId`, detail: 'send one result of each call' }]);
    seen.add(toolCallId);
  }
  return results;
}

/** Roles of messages that may come between the results and the end. */
const after = ['tool', 'activity', 'reasoning'];

function readResult(message: Message, at: string): GivenResult {
  const { content, toolCallId, error } = message as Message & Record<string, unknown>;
  const refuse = (member: string, detail: string) => invalidRequest([{ pointer: `${at}/${member}`, detail }]);
  if (typeof toolCallId !== 'string' || toolCallId === '') throw refuse('toolCallId', 'name the call');
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const texts = parts.map((part, index) => {
    if (isRecord(part) && part['type'] === 'text' && typeof part['text'] === 'string') return part['text'];
    throw refuse(`content/${index}`, 'a result is text');
  });
  const isError = typeof error === 'string' && error !== '';
  const text = texts.join('\n') || (isError ? error : '');
  if (text.length > longestFrontendResult)
    throw refuse('content', `a result has at most ${longestFrontendResult} characters`);
  return { toolCallId, text, isError, at };
}
