/**
 * One model call: reads the conversation, streams what the model says into the turn log, keeps the message. A turn's
 * first one begins the turn: a workflow whose turn was withdrawn finds that out here, before it has done anything.
 *
 * Made to be repeated. Once the step is kept, any further attempt answers from what is stored and calls no
 * model. An attempt that finds words of an earlier, unfinished one declares them void before it speaks, and from
 * then on the earlier one, should it still be alive, is refused. Temporal's history receives ids and names only.
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { Logger } from 'pino';
import type { AgentConfig, Config } from '../../config/config.ts';
import type { Catalogue } from '../../remote/catalogue.ts';
import { awayForModel } from '../../elicitation/wording.ts';
import { classifyModelError } from '../../models/classify-model-error.ts';
import { emptyAnswer } from '../../models/model-failure.ts';
import type { ModelFailure, ModelIdentity } from '../../models/model-failure.ts';
import { keyVariable } from '../../models/provider.ts';
import type { Models } from '../../models/provider.ts';
import { ModelCallError, streamStep } from '../../models/stream-step.ts';
import type { AssistantPart, SilenceLimits } from '../../models/stream-step.ts';
import type { NewEvent } from '../../storage/ports/turn-log.ts';
import type { Storage } from '../../storage/storage.ts';
import type { StoredMessage } from '../../storage/ports/conversations.ts';
import { turnStarted } from '../../telemetry/events.ts';
import type { TurnEvent } from '../../turn/event.ts';
import type { ModelCallInput, ModelCallResult, StepFinish, StepResult } from '../../turn/step.ts';
import { keyOfReset, keyOfSpeech } from '../../turn/step-keys.ts';
import { toModelMessages } from '../../turn/transcript.ts';
import type { Turn } from '../../turn/turn.ts';
import { taskIn } from './delegate-tool.ts';
import { createDeltaWriter } from './delta-writer.ts';
import { whileHeartbeating } from '../heartbeat.ts';
import { createAgentTools } from './agent-tools.ts';
import { keepStep, keptStep } from './store-step.ts';
import type { Done, Step } from './store-step.ts';
import { stopped, stopSignal, whileWanted } from '../stop-signal.ts';

interface Dependencies {
  storage: Pick<Storage, 'messages' | 'steps' | 'toolCalls' | 'turns'>;
  models: Models;
  agents: Config['agents'];
  servers: Config['servers'];
  catalogue: Pick<Catalogue, 'toolsFor' | 'backoff'>;
  config: Pick<Config, 'providers'>;
  logger: Logger;
  silenceLimits?: SilenceLimits;
}

/** Models that think without saying so take minutes to begin. */
const defaultSilenceLimits: SilenceLimits = { firstMs: 240_000, nextMs: 90_000 };

export function createCallModel({
  storage,
  silenceLimits = defaultSilenceLimits,
  ...dependencies
}: Dependencies) {
  const { models, agents, config, logger } = dependencies;
  const toolsOf = createAgentTools(dependencies);

  return {
    callModel: (input: ModelCallInput) =>
      whileHeartbeating(() => whileWanted(storage.turns, input.turn, () => callModel(input))),
  };

  async function callModel({ turn, step }: ModelCallInput): Promise<ModelCallResult> {
    const { attempt } = Context.current().info;
    if (step === 0 && !turn.delegation && !(await begin(turn, attempt))) return { finish: 'withdrawn' };
    const agent = agentOf(turn);
    const [start, messages, { tools, away }] = await Promise.all([
      storage.steps.begin(turn, { step, attempt }),
      transcriptOf(turn),
      toolsOf(agent, turn),
    ]);
    const current: Step = { turn, step, attempt, messages, tools };
    if (start.kind === 'kept') return stored(current, start.finish);

    const log = logger.child({ turnId: turn.turnId, agent: agent.name, model: agent.model, step, attempt });
    const startedAt = performance.now();
    const ms = () => Math.round(performance.now() - startedAt);
    try {
      const { done, events } = await speak(agent, current, { isRepeat: start.isRepeat, away });
      const result = await keepStep(storage, current, done, events);
      if (typeof result === 'string') return await stored(current, result);
      log.debug({ finish: result.finish, usage: done.usage, ms: ms() }, 'model step');
      return result;
    } catch (error) {
      if (!(error instanceof ModelCallError)) throw error;
      const { type, status, forOperator, said } = error.failure;
      const itSaid = said === undefined ? '' : ` It said: ${said}`;
      log.warn({ type, status, said, ms: ms() }, `model call failed: ${forOperator}${itSaid}`);
      throw toFailure(error.failure);
    }
  }

  /** False: the turn was withdrawn before it began, and must not run. */
  async function begin(turn: Turn, attempt: number): Promise<boolean> {
    const begun = await storage.turns.begin(turn);
    if (begun && attempt === 1) turnStarted(logger, turn);
    return begun;
  }

  /** The transcript is read again: it may have been read before the step was kept. */
  async function stored(current: Step, finish: StepFinish): Promise<StepResult> {
    return keptStep({ ...current, messages: await transcriptOf(current.turn) }, finish);
  }

  /** Streams the answer into the log. The last events come back unwritten, to go in together with the message. */
  async function speak(
    agent: AgentConfig,
    current: Step,
    { isRepeat, away }: { isRepeat: boolean; away: string[] },
  ): Promise<{ done: Done; events: NewEvent[] }> {
    const { turn, step, attempt, messages, tools } = current;
    const identity = { spec: agent.model, keyVariable: keyVariable(agent.model, config.providers) };
    const model = await modelFor(identity);
    let count = 0;
    const keyFor = ({ type }: TurnEvent) =>
      type === 'reset-step' ? keyOfReset(step, attempt) : keyOfSpeech(step, attempt, count++);
    const keyed = (events: TurnEvent[]) => events.map((event): NewEvent => ({ key: keyFor(event), event }));
    const writer = createDeltaWriter((events) =>
      storage.steps.append(turn, { step, attempt }, keyed(events)),
    );
    const signal = AbortSignal.any([stopSignal(), writer.failed]);
    const { modelSettings: settings } = agent;
    const instructions = [agent.instructions, awayForModel(away)].filter((text) => text !== '').join('\n\n');
    const prefix = turn.delegation ? `${turn.delegation.toolCallId}.` : '';
    const history = toModelMessages(messages);
    let done: Done | undefined;
    try {
      if (isRepeat) await writer.write({ type: 'reset-step', step });
      await writer.write({ type: 'start-step', step });
      for await (const part of streamStep({
        model,
        identity,
        instructions,
        settings,
        messages: history,
        tools,
        signal,
        silenceLimits,
      })) {
        if (part.type === 'done') done = part;
        // Providers count their parts from zero in every call.
        else await writer.write({ ...part, id: `${prefix}${step}.${attempt}.${part.id}` });
      }
    } catch (error) {
      // No write of ours may arrive after the next attempt has begun.
      await writer.rest().catch(() => undefined);
      throw error;
    }
    const rest = await writer.rest();
    if (signal.aborted) return stopped();
    if (!done) throw new Error(`The stream of step ${step} ended without saying how.`);
    if (!done.content.some(isAnswer)) throw new ModelCallError(emptyAnswer(done.finish, identity));
    return { done, events: keyed(rest) };
  }

  /** A delegated agent sees its task and what it has made of it so far, and nothing of the conversation. */
  async function transcriptOf(turn: Turn): Promise<StoredMessage[]> {
    const { turnId, delegation } = turn;
    if (!delegation) return storage.messages.list(turn);
    const [messages, call] = await Promise.all([
      storage.messages.list(turn),
      storage.toolCalls.get(turn, delegation.toolCallId),
    ]);
    const task = taskIn(call?.input) ?? '';
    return [
      { id: `${turnId}/agent/${delegation.toolCallId}`, turnId, role: 'user', content: task },
      ...messages,
    ];
  }

  function agentOf(turn: Turn): AgentConfig {
    const agent = agents.get(turn.agent);
    if (agent) return agent;
    throw ApplicationFailure.nonRetryable(
      `There is no agent "${turn.agent}" any more. Choose another one.`,
      'UnknownAgent',
    );
  }

  async function modelFor(identity: ModelIdentity) {
    try {
      return await models(identity.spec);
    } catch (error) {
      throw new ModelCallError(classifyModelError(error, identity));
    }
  }
}

/** Thoughts alone answer nothing. */
function isAnswer(part: AssistantPart): boolean {
  return part.type === 'text' ? part.text.trim() !== '' : part.type !== 'reasoning';
}

function toFailure({ type, message, retry, retryAfterMs }: ModelFailure): ApplicationFailure {
  const isExpected =
    type === 'ModelRateLimited' || type === 'ModelContentPolicy' || type === 'ModelContextTooLong';
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: !retry,
    ...(retryAfterMs !== undefined && { nextRetryDelay: retryAfterMs }),
    ...(isExpected && { category: ApplicationFailureCategory.BENIGN }),
  });
}
