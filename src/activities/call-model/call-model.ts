/**
 * One model step: reads the conversation, streams what the model says into the turn log, stores the message. The first step
 * of a turn begins the turn, unless it was withdrawn. The last step of the turn's own agent ends it.
 *
 * Safe to repeat. Once the step is stored, later attempts answer from what is stored and call no model. An attempt that
 * finds output of an earlier, unfinished one declares it void first; from then on the earlier attempt's writes are refused.
 * Temporal's history gets ids and names only.
 */
import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { Logger } from 'pino';
import type { AgentConfig, Config } from '../../platform/config/config.ts';
import type { ModelFailure } from '../../models/model-failure.ts';
import { ModelCallError } from '../../models/stream-step.ts';
import type { Catalogue } from '../../remote/catalogue.ts';
import type { StoredMessage } from '../../storage/schema/turn-tables.ts';
import type { NewEvent } from '../../storage/log/append.ts';
import type { Storage } from '../../storage/storage.ts';
import { countTokens } from '../../storage/token-limits.ts';
import { aboutTurn, turnStarted } from '../../platform/telemetry/events.ts';
import { modelCalled } from '../../platform/telemetry/metrics/instruments.ts';
import { traceModelCall } from '../../platform/telemetry/traces/agent-spans.ts';
import { currentPhase } from '../../platform/telemetry/traces/turn-spans.ts';
import { keyOfOutput } from '../../turn/event.ts';
import type { CallFailure } from '../../turn/call-failure.ts';
import type { TurnEvent } from '../../turn/event.ts';
import { directCallId, directCallIn } from '../../turn/message-parts.ts';
import type { DirectCall } from '../../turn/message-parts.ts';
import { modelStepMs } from '../../turn/step.ts';
import type { ModelCallInput, ModelCallResult, StepFinish, StepResult } from '../../turn/step.ts';
import type { Turn } from '../../turn/turn.ts';
import { turnFailureInWords } from '../../turn/for-person.ts';
import type { CodedFailure } from '../../turn/turn-failure.ts';
import { attemptNumber, whileHeartbeating, withStopSignal } from '../running-activity.ts';
import { afterEnd } from '../turns.ts';
import { createAgentTools, createToolFitter, taskIn } from './agent-tools.ts';
import type { OfferedTools, ToolFitter } from './agent-tools.ts';
import { keepStep, keptStep } from './store-step.ts';
import type { Done, Step } from './store-step.ts';
import { streamAnswer } from './stream-answer.ts';
import type { ModelParts } from './stream-answer.ts';

interface Dependencies extends ModelParts {
  config: Pick<Config, 'delegation' | 'providers' | 'images' | 'limits'>;
  agents: Config['agents'];
  servers: Config['servers'];
  catalogue: Pick<Catalogue, 'toolsFor' | 'backoff'>;
  offeredTools?: OfferedTools;
  logger: Logger;
}

interface Parts extends Dependencies {
  fitter: ToolFitter;
  agentOf: ReturnType<typeof createAgentOf>;
  toolsOf: ReturnType<typeof createAgentTools>;
}

/** Makes a step after the first, inside an activity that sends heartbeats itself. */
export type MakeStep = (input: ModelCallInput) => Promise<StepResult>;

export function createCallModel(dependencies: Dependencies) {
  const { config, logger } = dependencies;
  const fitter = createToolFitter({ providers: config.providers, logger });
  const parts: Parts = {
    ...dependencies,
    fitter,
    agentOf: createAgentOf(dependencies),
    toolsOf: createAgentTools({ ...dependencies, fitter }),
  };
  const { turns } = dependencies.storage;
  const makeNextStep: MakeStep = (input) =>
    withStopSignal(turns, input.turn, () => makeStep(parts, input), { limitMs: modelStepMs });
  return {
    makeNextStep,
    callModel: (input: ModelCallInput) =>
      whileHeartbeating(() => withStopSignal(turns, input.turn, () => callModel(parts, input))),
  };
}

async function callModel(parts: Parts, input: ModelCallInput): Promise<ModelCallResult> {
  const { turn, step } = input;
  const isFirst = step === 0 && !turn.delegation;
  if (isFirst && !(await beginTurn(parts, turn, attemptNumber(input)))) return { finish: 'withdrawn' };
  return makeStep(parts, input);
}

async function makeStep(parts: Parts, input: ModelCallInput): Promise<StepResult> {
  const { storage } = parts;
  const { turn, step, attemptsBefore = 0 } = input;
  const attempt = attemptsBefore + attemptNumber(input);
  const agent = parts.agentOf(turn, step);
  const phase = currentPhase(parts, turn);
  const transcript = readTranscript(storage, turn);
  const [begun, messages, { tools, away }] = await Promise.all([
    storage.steps.begin(turn, { step, attempt }),
    transcript,
    parts.toolsOf(agent, turn, transcript),
  ]);
  const limits = parts.config.delegation;
  const current: Step = { turn, step, attempt, messages, tools, limits };
  if (begun.kind === 'kept') return readKeptStep(parts, current, begun.finish);

  const logger = parts.logger.child({
    ...aboutTurn(turn),
    agent: agent.name,
    model: agent.model,
    step,
    attempt,
  });
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  const asked = { agent: agent.name, model: agent.model };
  try {
    const direct = directCallOf(current);
    const { fitter } = parts;
    const answer = direct
      ? makeDirectCall(current, direct)
      : await traceModelCall(phase, turn, { agent, step, attempt }, () =>
          streamAnswer(parts, current, { agent, away, isRepeat: begun.isRepeat, fitter, logger }),
        );
    const { done } = answer;
    if (!direct) modelCalled({ ...asked, durationMs: durationMs(), usage: done.usage });
    const written = await keepStep(storage, current, answer);
    if (written.kind === 'known') return await readKeptStep(parts, current, written.finish);
    countTokens(storage.counts, turn, done.usage, parts.config.limits.tokensPerDay);
    const { result, ended } = written;
    logger.debug({ finish: result.finish, usage: done.usage, durationMs: durationMs() }, 'model step');
    if (ended) afterEnd(parts, turn, { status: 'completed', code: undefined, startedAt: ended.startedAt });
    return result;
  } catch (error) {
    if (!(error instanceof ModelCallError)) throw error;
    const { type, status, forOperator, said } = error.failure;
    modelCalled({ ...asked, durationMs: durationMs(), failure: type });
    const itSaid = said === undefined ? '' : ` It said: ${said}`;
    logger.warn(
      { type, status, said, durationMs: durationMs() },
      `model call failed: ${forOperator}${itSaid}`,
    );
    throw toFailure(error.failure);
  }
}

/** False if the turn was withdrawn before it began: then it must not run. */
async function beginTurn({ storage, logger }: Parts, turn: Turn, attempt: number): Promise<boolean> {
  const { turns } = storage;
  if (await turns.begin(turn)) {
    if (attempt === 1) turnStarted(logger, turn);
    return true;
  }
  // An earlier attempt at this step may have ended the turn.
  return (await turns.get(turn))?.status === 'completed';
}

/** Of the most recent turns. */
const keptAgents = 10_000;

/** The agents file may change: a turn goes on with what its agent was when it began here. */
function createAgentOf({ agents }: Dependencies): (turn: Turn, step: number) => AgentConfig {
  const begun = new Map<string, AgentConfig>();
  return (turn, step) => {
    const key = `${turn.turnId} ${turn.delegation?.toolCallId ?? ''}`;
    const agent = (step > 0 ? begun.get(key) : undefined) ?? agents.get(turn.agent);
    if (!agent) {
      const failure: CodedFailure = { code: 'UnknownAgent', agent: turn.agent };
      throw ApplicationFailure.nonRetryable(turnFailureInWords(failure), failure.code, failure);
    }
    begun.set(key, agent);
    const [oldest = key] = begun.keys();
    if (begun.size > keptAgents) begun.delete(oldest);
    return agent;
  };
}

/** Reads the transcript again, because it may have been read before the step was stored. */
async function readKeptStep({ storage }: Parts, current: Step, finish: StepFinish): Promise<StepResult> {
  return keptStep({ ...current, messages: await readTranscript(storage, current.turn) }, finish);
}

function toFailure({ type, message, retry, retryAfterMs, isOutOfRoom }: ModelFailure): ApplicationFailure {
  const failure: CodedFailure = isOutOfRoom ? { code: 'ModelEmptyAnswer', isOutOfRoom } : { code: type };
  const isExpected =
    type === 'ModelRateLimited' || type === 'ModelContentPolicy' || type === 'ModelContextTooLong';
  return ApplicationFailure.create({
    type,
    message,
    details: [failure],
    nonRetryable: !retry,
    ...(retryAfterMs !== undefined && { nextRetryDelay: retryAfterMs }),
    ...(isExpected && { category: ApplicationFailureCategory.BENIGN }),
  });
}

/** A delegated agent gets its task and its own messages, and nothing of the conversation. */
async function readTranscript({ messages, toolCalls }: Storage, turn: Turn): Promise<StoredMessage[]> {
  const { turnId, delegation } = turn;
  if (!delegation) return messages.list(turn);
  const [own, call] = await Promise.all([messages.list(turn), toolCalls.get(turn, delegation.toolCallId)]);
  const content = taskIn(call?.input) ?? '';
  return [{ id: `${turnId}/agent/${delegation.toolCallId}`, turnId, role: 'user', content }, ...own];
}

/** The direct call that this turn consists of; null if a model is asked. Delegated agents always have a task as text. */
function directCallOf({ turn, messages }: Step): DirectCall | null {
  if (turn.delegation) return null;
  const said = messages.findLast(({ role }) => role === 'user');
  return said ? directCallIn(said.content) : null;
}

/** A step of a direct call, as if a model had requested this call first, and nothing more after it. */
function makeDirectCall(
  { turn, step, attempt, tools }: Step,
  { tool, input }: DirectCall,
): { done: Done; events: NewEvent[] } {
  const begun: TurnEvent = { type: 'start-step', step };
  const events = [{ key: keyOfOutput(step, attempt, 0), event: begun }];
  const usage = { inputTokens: 0, outputTokens: 0 };
  if (step > 0)
    return { done: { type: 'done', finish: 'stop', usage, content: [], mistakes: new Map() }, events };
  const toolCallId = directCallId(turn.turnId);
  const isThere = tools.some((one) => 'bundle' in one && one.modelName === tool);
  const gone: CallFailure = { code: 'tool_gone', tool };
  return {
    done: {
      type: 'done',
      finish: 'tool-calls',
      usage,
      content: [{ type: 'tool-call', toolCallId, toolName: tool, input }],
      mistakes: new Map(isThere ? [] : [[toolCallId, gone]]),
    },
    events,
  };
}
