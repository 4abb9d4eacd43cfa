/**
 * Asks the model, and asks again with less when its provider rejects what is in the request: without the tool that it names,
 * or without what came into the conversation since the model last spoke (see turn/left-out.ts). Each step is taken once, so
 * an attempt makes a bounded number of requests. What was accepted is marked when the step is kept.
 */
import type { Logger } from 'pino';
import type { AgentConfig } from '../../config/config.ts';
import type { BlamedTool, ModelFailure } from '../../models/model-failure.ts';
import { ModelCallError } from '../../models/stream-step.ts';
import type { StepPart } from '../../models/stream-step.ts';
import type { StoredMessage } from '../../storage/ports/conversations.ts';
import { withMoreLeftOut } from '../../turn/left-out.ts';
import type { LeftOut } from '../../turn/left-out.ts';
import { placeOf, toolInWords } from './fit-tools.ts';
import type { FittedTool, ToolFitter } from './fit-tools.ts';

/** Rejected one after the other in one attempt. */
const mostRejectedTools = 10;

interface Question {
  messages: StoredMessage[];
  tools: FittedTool[];
}

interface Parts {
  agent: AgentConfig;
  fitter: Pick<ToolFitter, 'reject'>;
  logger: Pick<Logger, 'warn'>;
  ask(question: Question): AsyncIterable<StepPart>;
}

/** Called before the first part is there. */
export type OnAccepted = (leftOut: ReadonlyMap<string, LeftOut>) => void;

export async function* askUntilAccepted(
  parts: Parts,
  { messages, tools }: Question,
  onAccepted: OnAccepted,
): AsyncGenerator<StepPart> {
  let offered = tools;
  let first: ModelCallError | undefined;
  const transcripts = [messages, ...withMoreLeftOut(messages)];
  for (let next = transcripts.shift(); next;) {
    let hasSpoken = false;
    try {
      for await (const part of parts.ask({ messages: next, tools: offered })) {
        if (!hasSpoken) accepted(parts, { before: messages, now: next, tools }, first, onAccepted);
        hasSpoken = true;
        yield part;
      }
      return;
    } catch (error) {
      if (!(error instanceof ModelCallError) || !error.failure.rejection || hasSpoken) throw error;
      const { tool: blamed } = error.failure.rejection;
      const tool = blamed && toolAmong(offered, blamed);
      if (tool && tools.length - offered.length < mostRejectedTools) {
        rejectTool(parts, tool, error.failure);
        offered = offered.filter((one) => one !== tool);
        continue;
      }
      first ??= error;
      next = transcripts.shift();
      // The reason may be elsewhere: what was said first counts.
      if (!next) throw first;
    }
  }
}

function toolAmong(tools: FittedTool[], blamed: BlamedTool): FittedTool | undefined {
  return 'index' in blamed ? tools[blamed.index] : tools.find(({ modelName }) => modelName === blamed.name);
}

function rejectTool(
  { agent, fitter, logger }: Parts,
  tool: FittedTool,
  { status, said }: ModelFailure,
): void {
  fitter.reject(agent, tool);
  const about = { agent: agent.name, model: agent.model, ...placeOf(tool), status, said };
  logger.warn(
    about,
    `the model ${agent.model} did not accept ${toolInWords(tool)}${itSaid(said)}; turns go on without it until its schema changes or the worker restarts`,
  );
}

function accepted(
  { agent, logger }: Parts,
  { before, now, tools }: { before: StoredMessage[]; now: StoredMessage[]; tools: FittedTool[] },
  rejected: ModelCallError | undefined,
  onAccepted: OnAccepted,
): void {
  const changed = now.filter((message, index) => message !== before[index]);
  onAccepted(new Map(changed.flatMap(({ id, leftOut }) => (leftOut ? [[id, leftOut] as const] : []))));
  if (!rejected || changed.length === 0) return;
  const { status, said } = rejected.failure;
  const notSent = changed.flatMap((message) => partsInWords(message, tools));
  logger.warn(
    { agent: agent.name, model: agent.model, notSent, status, said },
    `the model ${agent.model} did not accept the conversation with ${notSent.join(' and ')}; the turn goes on without${itSaid(said)}`,
  );
}

function partsInWords({ role, content, leftOut }: StoredMessage, tools: FittedTool[]): string[] {
  const what = leftOut === 'results' ? 'the result' : 'the files in the result';
  if (role === 'user') return ["the files in a user's message"];
  if (role === 'assistant') return ['the files and thoughts of the model'];
  return (Array.isArray(content) ? (content as { toolName?: string }[]) : []).map(({ toolName = '' }) => {
    const tool = tools.find(({ modelName }) => modelName === toolName);
    return `${what} of ${tool ? toolInWords(tool) : `"${toolName}"`}`;
  });
}

function itSaid(said: string | undefined): string {
  return said === undefined ? '' : ` (it said: ${said})`;
}
