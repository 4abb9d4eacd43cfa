/**
 * Lets the model speak, and writes what it says into the turn log as it comes. The last events come back unwritten, for
 * the transaction that keeps the step.
 */
import type { Logger } from 'pino';
import type { AgentConfig, Config } from '../../config/config.ts';
import { awayForModel } from '../../elicitation/wording.ts';
import { classifyModelError } from '../../models/classify-model-error.ts';
import { emptyAnswer } from '../../models/model-failure.ts';
import type { ModelIdentity } from '../../models/model-failure.ts';
import { keyVariable } from '../../models/provider.ts';
import type { Models } from '../../models/provider.ts';
import { ModelCallError, streamStep } from '../../models/stream-step.ts';
import type { AssistantPart, SilenceLimits, StepPart } from '../../models/stream-step.ts';
import type { StoredMessage } from '../../storage/ports/conversations.ts';
import type { NewEvent } from '../../storage/ports/turn-log.ts';
import { withImages } from '../../storage/shown-images.ts';
import type { Storage } from '../../storage/storage.ts';
import type { TurnEvent } from '../../turn/event.ts';
import type { LeftOut } from '../../turn/left-out.ts';
import { keyOfReset, keyOfOutput } from '../../turn/step-keys.ts';
import { toModelMessages } from '../../turn/transcript.ts';
import { stopped, stopSignal } from '../stop-signal.ts';
import { askUntilAccepted } from './ask-until-accepted.ts';
import { createDeltaWriter } from './delta-writer.ts';
import type { DeltaWriter } from './delta-writer.ts';
import type { FittedTool, ToolFitter } from './fit-tools.ts';
import type { Done, Step } from './store-step.ts';

export interface ModelParts {
  storage: Pick<Storage, 'steps' | 'images'>;
  models: Models;
  config: Pick<Config, 'providers' | 'images'>;
  silenceLimits?: SilenceLimits;
}

interface AnswerRequest {
  agent: AgentConfig;
  /** Titles of servers whose tools are not known because they cannot be reached. */
  away: string[];
  /** An earlier attempt has written words of this step, which count no more. */
  isRepeat: boolean;
  fitter: Pick<ToolFitter, 'reject'>;
  logger: Pick<Logger, 'warn'>;
}

/** Models that think without saying so take minutes to begin. */
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
      // Providers count their parts from zero in every call.
      else await writer.write({ ...part, id: `${prefix}${step}.${attempt}.${part.id}` });
    }
    return done;
  } catch (error) {
    // No write of ours may arrive after the next attempt has begun.
    await writer.rest().catch(() => undefined);
    throw error;
  }
}

/** Numbers the events of one attempt in the order in which they are given. */
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

/** Thoughts alone answer nothing. */
function isAnswer(part: AssistantPart): boolean {
  return part.type === 'text' ? part.text.trim() !== '' : part.type !== 'reasoning';
}
