/**
 * Streams a model's answer into the turn log. The last events are returned unwritten, for the transaction that stores the
 * step.
 *
 * If the provider rejects something in the request, the model is asked again with less: without the tool that the provider
 * names, or without what was added to the conversation since the model's last message (see turn/left-out.ts). Each such
 * step is taken once, so an attempt makes a bounded number of requests. What was left out is marked when the step is stored.
 */
import type { Logger } from 'pino';
import type { AgentConfig, Config } from '../../platform/config/config.ts';
import { awayForModel } from '@interlude-ai/core/elicitation/wording.ts';
import { classifyModelError, emptyAnswer } from '../../models/model-failure.ts';
import type { ModelIdentity, BlamedTool, ModelFailure } from '../../models/model-failure.ts';
import { keyVariable } from '../../models/provider.ts';
import type { Models } from '../../models/provider.ts';
import { ModelCallError, streamStep } from '../../models/stream-step.ts';
import type { AssistantPart, SilenceLimits, StepPart } from '../../models/stream-step.ts';
import type { StoredMessage } from '../../storage/schema/turn-tables.ts';
import type { NewEvent } from '../../storage/log/append.ts';
import { withImages } from '../../storage/tables/images.ts';
import type { Storage } from '../../storage/storage.ts';
import type { TurnEvent } from '../../turn/event.ts';
import type { LeftOut } from '../../turn/left-out.ts';
import { keyOfReset, keyOfOutput } from '../../turn/event.ts';
import { toModelMessages } from '../../turn/transcript.ts';
import { stopped, stopSignal } from '../running-activity.ts';
import { createDeltaWriter } from './delta-writer.ts';
import type { DeltaWriter } from './delta-writer.ts';
import type { FittedTool, ToolFitter } from './agent-tools.ts';
import type { Done, Step } from './store-step.ts';
import { withMoreLeftOut } from '../../turn/left-out.ts';
import { placeOf, toolInWords } from './agent-tools.ts';

export interface ModelParts {
  storage: Storage;
  models: Models;
  config: Pick<Config, 'providers' | 'images'>;
  silenceLimits?: SilenceLimits;
}

interface AnswerRequest {
  agent: AgentConfig;
  /** Titles of servers that cannot be reached, so that their tools are unknown. */
  away: string[];
  /** An earlier attempt has written output of this step, which is void now. */
  isRepeat: boolean;
  fitter: ToolFitter;
  logger: Logger;
}

/** Models that think silently may take minutes to begin. */
const defaultSilenceLimits: SilenceLimits = { firstMs: 240_000, nextMs: 90_000 };

export async function streamAnswer(
  { storage, models, config, silenceLimits = defaultSilenceLimits }: ModelParts,
  current: Step,
  { agent, away, isRepeat, fitter, logger }: AnswerRequest,
): Promise<{ done: Done; events: NewEvent[]; leftOut: ReadonlyMap<string, LeftOut> }> {
  const { turn, step, attempt, messages, tools } = current;
  const identity = { spec: agent.model, keyVariable: keyVariable(agent.model, config.providers) };
  const model = await modelFor(models, identity);
  const withKeys = createEventKeys(current);
  const writer = createDeltaWriter((events) =>
    storage.steps.append(turn, { step, attempt }, withKeys(events)),
  );
  const signal = AbortSignal.any([stopSignal(), writer.failed]);
  const room = agent.images ? config.images.maxBytesPerConversation : 0;
  const shown = await withImages(storage.images, messages, room);
  let leftOut: ReadonlyMap<string, LeftOut> = new Map();
  const ask = (question: { messages: StoredMessage[]; tools: FittedTool[] }) =>
    streamStep({
      model,
      identity,
      instructions: [agent.instructions, awayForModel(away)].filter((text) => text !== '').join('\n\n'),
      settings: agent.modelSettings,
      messages: toModelMessages(question.messages),
      tools: question.tools,
      signal,
      silenceLimits,
    });
  const answer = askUntilAccepted(
    { agent, fitter, logger, ask },
    { messages: shown, tools },
    (given) => (leftOut = given),
  );
  const done = await writeAnswer(writer, current, isRepeat, answer);
  const rest = await writer.rest();
  if (signal.aborted) return stopped();
  if (!done) throw new Error(`The stream of step ${step} ended without saying how.`);
  if (!done.content.some(isAnswer)) throw new ModelCallError(emptyAnswer(done.finish, identity));
  return { done, events: withKeys(rest), leftOut };
}

async function writeAnswer(
  writer: DeltaWriter,
  { turn, step, attempt }: Step,
  isRepeat: boolean,
  answer: AsyncIterable<StepPart>,
): Promise<Done | undefined> {
  const prefix = turn.delegation ? `${turn.delegation.toolCallId}.` : '';
  let done: Done | undefined;
  try {
    if (isRepeat) await writer.write({ type: 'reset-step', step });
    await writer.write({ type: 'start-step', step });
    for await (const part of answer) {
      if (part.type === 'done') done = part;
      // Providers number their parts from zero in every call.
      else await writer.write({ ...part, id: `${prefix}${step}.${attempt}.${part.id}` });
    }
    return done;
  } catch (error) {
    // None of our writes may arrive after the next attempt has begun.
    await writer.rest().catch(() => undefined);
    throw error;
  }
}

/** Numbers the events of one attempt in order. */
function createEventKeys({ step, attempt }: Step): (events: TurnEvent[]) => NewEvent[] {
  let count = 0;
  const keyOf = ({ type }: TurnEvent) =>
    type === 'reset-step' ? keyOfReset(step, attempt) : keyOfOutput(step, attempt, count++);
  return (events) => events.map((event): NewEvent => ({ key: keyOf(event), event }));
}

async function modelFor(models: Models, identity: ModelIdentity) {
  try {
    return await models(identity.spec);
  } catch (error) {
    throw new ModelCallError(classifyModelError(error, identity));
  }
}

/** Reasoning alone is no answer. */
function isAnswer(part: AssistantPart): boolean {
  return part.type === 'text' ? part.text.trim() !== '' : part.type !== 'reasoning';
}

/** Tools that may be rejected one after the other in one attempt. */
const mostRejectedTools = 10;

interface ModelRequest {
  messages: StoredMessage[];
  tools: FittedTool[];
}

interface Parts {
  agent: AgentConfig;
  fitter: ToolFitter;
  logger: Logger;
  ask(question: ModelRequest): AsyncIterable<StepPart>;
}

/** Called before the first part is yielded. */
type OnAccepted = (leftOut: ReadonlyMap<string, LeftOut>) => void;

async function* askUntilAccepted(
  parts: Parts,
  { messages, tools }: ModelRequest,
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
      // The cause may be something else, so the first error counts.
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
