/**
 * The instruments of the service, and one function for each thing that is recorded. The functions may be called from
 * anywhere: until metrics are started, OpenTelemetry's API ignores what is recorded.
 *
 * Labels come from the configuration (servers, agents, models, tools in TypeScript) and from fixed codes. Users, tenants,
 * ids and names that servers choose are never labels: each value is a time series that stays in memory.
 *
 * Names that begin with `gen_ai` follow the semantic conventions for generative AI, which still change.
 */
import { metrics } from '@opentelemetry/api';
import type {
  Attributes,
  BatchObservableResult,
  Meter,
  MeterProvider,
  ObservableGauge,
} from '@opentelemetry/api';
import type { ServerConfig } from '../../config/config.ts';
import type { Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationRow } from '../../../storage/schema/question-tables.ts';
import type { Figures } from '../../../storage/tables/oversight.ts';
import type { ToolOutcome } from '../../../turn/event.ts';
import type { TurnEndStatus, Usage } from '../../../turn/turn.ts';

/** For models and tools: 10 ms to 164 s, doubling. */
const callSeconds = Array.from({ length: 15 }, (_, power) => 0.01 * 2 ** power);
/** For people: a second to an hour. */
const personSeconds = [1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 420, 600, 900, 1_800, 3_600];
/** For a turn, which may wait for people: half a second to a day. */
const turnSeconds = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 14_400, 86_400];
/** For the service itself: a millisecond to 16 s, doubling. */
const ownSeconds = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);

function createInstruments(meter: Meter) {
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries } });
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(name, { unit: `{${unit}}`, description });
  return {
    questionsOpened: counter('interlude.questions.opened', 'question', 'Questions that were put to people'),
    questionsSettled: counter('interlude.questions.settled', 'question', 'Questions that ended, by outcome'),
    questionDuration: seconds('interlude.question.duration', 'From a question to its end', personSeconds),
    answerEffect: seconds(
      'interlude.answer.effect.duration',
      'From the end of a question until the call that waited for it goes on',
      ownSeconds,
    ),
    connections: counter(
      'interlude.connections.established',
      'connection',
      'Accounts that were connected, or connected again',
    ),
    serverRefusals: counter(
      'interlude.server.refusals',
      'response',
      'Answers 401 and 403 of servers, those included that another token cured',
    ),
    turnDuration: seconds('interlude.turn.duration', 'From the start of a turn to its end', turnSeconds),
    modelDuration: seconds('gen_ai.client.inference.duration', 'One request to a model', callSeconds),
    inputTokens: counter('gen_ai.client.inference.usage.input_tokens', 'token', 'Tokens that models read'),
    outputTokens: counter('gen_ai.client.inference.usage.output_tokens', 'token', 'Tokens that models wrote'),
    toolCalls: counter('interlude.tool_calls.ended', 'call', 'Tool calls that ended, by how they ended'),
    toolDuration: seconds(
      'gen_ai.execute_tool.duration',
      'One request to a server, or one run of a tool in TypeScript, that no person was waited for in',
      callSeconds,
    ),
    logLag: seconds(
      'interlude.log.lag',
      'From the write of an event until a follower of its conversation has it',
      ownSeconds,
    ),
    clockDifference: meter.createGauge('interlude.clock.difference', {
      unit: 's',
      description: 'How far the clock of this process is ahead of another',
    }),
    openStreams: meter.createUpDownCounter('interlude.streams.open', {
      unit: '{stream}',
      description: 'Responses that are being streamed or wait for a result',
    }),
    telemetryDropped: counter(
      'interlude.telemetry.dropped',
      'item',
      'Spans, and exports of metrics, that were lost',
    ),
  };
}

type Instruments = ReturnType<typeof createInstruments>;

let made: { provider: MeterProvider; meter: Meter; instruments: Instruments } | undefined;

/** Instruments do not switch to a provider that is set later, so they are made again then. */
function current() {
  const provider = metrics.getMeterProvider();
  if (made?.provider !== provider) {
    const meter = provider.getMeter('interlude');
    made = { provider, meter, instruments: createInstruments(meter) };
  }
  return made;
}

function seconds(milliseconds: number): number {
  return Math.max(0, milliseconds) / 1000;
}

/** The API does not drop undefined labels. */
function labels(given: Record<string, string | undefined>): Attributes {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

type Question = Pick<ElicitationRow, 'request'>;

function aboutQuestion({ request }: Question): { trigger: string; server: string | undefined } {
  const { trigger, server } = request.context;
  return { trigger, server };
}

export function questionOpened(question: Question): void {
  current().instruments.questionsOpened.add(1, labels(aboutQuestion(question)));
}

export function questionSettled(
  question: Question & Pick<ElicitationRow, 'status' | 'createdAt' | 'settledAt'>,
): void {
  const { status: outcome, createdAt, settledAt } = question;
  if (settledAt === null) return;
  const about = labels({ ...aboutQuestion(question), outcome });
  const { instruments } = current();
  instruments.questionsSettled.add(1, about);
  instruments.questionDuration.record(seconds(settledAt - createdAt), about);
}

/**
 * Starts the series that alerts and ratios use at zero, because Prometheus does not count the first value of a series as an
 * increase.
 */
export function beginSeries(
  servers: Iterable<Pick<ServerConfig, 'name' | 'credentialScope' | 'agent'>>,
): void {
  const { connections, serverRefusals, toolCalls } = current().instruments;
  for (const signal of signals) telemetryDropped(signal, 0);
  for (const trigger of ['tool_elicitation', 'model_question', 'frontend_tool', 'approval'])
    beginQuestions({ trigger });
  for (const { name: server, credentialScope, agent } of servers) {
    for (const outcome of toolOutcomes) toolCalls.add(0, { server, outcome });
    const triggers = agent ? ['a2a_input_required', 'a2a_auth_required'] : ['mcp_elicitation', 'approval'];
    for (const trigger of triggers) beginQuestions({ trigger, server });
    for (const status of ['401', '403']) serverRefusals.add(0, { server, status, followed: 'given_up' });
    if (credentialScope === 'none') continue;
    beginQuestions({ trigger: 'credential_required', server });
    connections.add(0, { server });
    for (const followed of afterRefusal) serverRefusals.add(0, { server, status: '401', followed });
  }
}

function beginQuestions(about: Attributes): void {
  const { questionsOpened, questionsSettled } = current().instruments;
  questionsOpened.add(0, about);
  for (const outcome of questionOutcomes) questionsSettled.add(0, { ...about, outcome });
}

const signals = ['spans', 'metrics', 'temporal_metrics'] as const;
const questionOutcomes: Outcome[] = ['accept', 'decline', 'cancel', 'expired'];
const toolOutcomes: ToolOutcome[] = [
  'ok',
  'tool_error',
  'decline',
  'cancel',
  'expired',
  'not_asked',
  'refused',
  'not_allowed',
  'unreachable',
  'unknown',
  'stopped',
  'failed',
];

/** The waiting call goes on. `now`: by the clock that `settledAt` was written by. */
export function answerTookEffect(question: Question & Pick<ElicitationRow, 'settledAt'>, now: number): void {
  const { settledAt } = question;
  if (settledAt === null) return;
  current().instruments.answerEffect.record(seconds(now - settledAt), labels(aboutQuestion(question)));
}

export function connectionEstablished(server: string): void {
  current().instruments.connections.add(1, { server });
}

/**
 * What followed a 401 or 403: the request was repeated with another token, the account has to be connected, the second
 * token was refused, too, or nothing, because a listing of tools can be skipped.
 */
export type AfterRefusal = (typeof afterRefusal)[number];

const afterRefusal = ['renewed', 'connection_required', 'refused_again', 'given_up'] as const;

export function serverRefused(server: string, status: number, followed: AfterRefusal): void {
  current().instruments.serverRefusals.add(1, { server, status: String(status), followed });
}

export function turnWasEnded(
  agent: string,
  { status, code, durationMs }: { status: TurnEndStatus; code: string | undefined; durationMs: number },
): void {
  const about = labels({ agent, status, 'error.type': code });
  current().instruments.turnDuration.record(seconds(durationMs), about);
}

interface ModelCall {
  agent: string;
  /** `provider:model`, as in the agents file. */
  model: string;
  durationMs: number;
  usage?: Usage;
  failure?: string;
}

export function modelCalled({ agent, model, durationMs, usage, failure }: ModelCall): void {
  const { instruments } = current();
  const [provider = model] = model.split(':', 1);
  const about = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model.slice(provider.length + 1) || model,
    'gen_ai.agent.name': agent,
  };
  instruments.modelDuration.record(seconds(durationMs), labels({ ...about, 'error.type': failure }));
  if (!usage) return;
  const tokens = { ...about, 'gen_ai.token.modality': 'text' };
  instruments.inputTokens.add(usage.inputTokens, tokens);
  instruments.outputTokens.add(usage.outputTokens, tokens);
}

interface NamedTool {
  /** The configured name. The names of the server's tools are not labels, because it chooses them. */
  server: string | undefined;
  /** A label only without a server: a tool of ours, or of the agent's author, or `frontendTool`. */
  toolName: string;
}

function aboutTool({ server, toolName }: NamedTool): Record<string, string | undefined> {
  return server === undefined ? { 'gen_ai.tool.name': toolName } : { server };
}

/** `failure`: undefined when the tool had a result that is not an error. */
export function toolExecuted(
  tool: NamedTool,
  { durationMs, failure }: { durationMs: number; failure: string | undefined },
): void {
  const about = { ...aboutTool(tool), 'gen_ai.operation.name': 'execute_tool', 'error.type': failure };
  current().instruments.toolDuration.record(seconds(durationMs), labels(about));
}

/** In place of names of tools of front ends, because clients choose them. */
export const frontendTool = 'frontend_tool';
/** In place of names that may be of such tools: the row of a call does not say whose tool it is. */
const unfinishedTool = 'unfinished';
/** Names that only the service gives. */
const ownName = /^(?:ask_user$|agent__|connect_)/;

/** The label of a call that ended without a result of its tool. */
export function unfinishedLabel(toolName: string): string {
  return ownName.test(toolName) ? toolName : unfinishedTool;
}

export function toolCallEnded(tool: NamedTool, outcome: ToolOutcome): void {
  current().instruments.toolCalls.add(1, labels({ ...aboutTool(tool), outcome }));
}

export function logFollowed(lagMs: number): void {
  current().instruments.logLag.record(seconds(lagMs));
}

/** `route`: its pattern. Returns a function to be called when the stream has ended. */
export function streamOpened(route: string): () => void {
  const { openStreams } = current().instruments;
  openStreams.add(1, { route });
  return () => openStreams.add(-1, { route });
}

export function telemetryDropped(signal: (typeof signals)[number], count = 1): void {
  current().instruments.telemetryDropped.add(count, { signal });
}

export function clockDiffers(from: 'database' | 'temporal', aheadMs: number): void {
  current().instruments.clockDifference.record(aheadMs / 1000, { from });
}

function createGauges(meter: Meter) {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(name, { unit, description });
  return {
    openQuestions: gauge('interlude.questions.open', '{question}', 'Questions that wait for a person'),
    overdueQuestions: gauge(
      'interlude.questions.overdue',
      '{question}',
      'Open questions whose deadline has passed',
    ),
    turns: gauge('interlude.turns.live', '{turn}', 'Turns that have not ended, by state'),
    outboxPending: gauge(
      'interlude.outbox.pending',
      '{mark}',
      'What Temporal and servers still have to be notified of',
    ),
    outboxOldest: gauge('interlude.outbox.overdue', 's', 'For how long the most overdue of it has been due'),
  };
}

/** Observes the gauges whenever metrics are collected, until the returned function is called. `read` must not reject. */
export function observeFigures(read: () => Promise<Figures | null>): () => void {
  const { meter } = current();
  const gauges = createGauges(meter);
  const all: ObservableGauge[] = Object.values(gauges);
  /** Servers seen before: a series that is no longer observed would keep its last value. */
  const seen = new Set<string>();
  const observe = async (result: BatchObservableResult) => {
    const figures = await read();
    if (!figures) return;
    const { questions, turns, outbox } = figures;
    for (const { server, open, overdue } of questions) {
      const about = labels({ server: server ?? undefined });
      result.observe(gauges.openQuestions, open, about);
      result.observe(gauges.overdueQuestions, overdue, about);
      if (server !== null) seen.add(server);
    }
    const listed = new Set(questions.map(({ server }) => server));
    for (const server of seen) {
      if (listed.has(server)) continue;
      result.observe(gauges.openQuestions, 0, labels({ server }));
      result.observe(gauges.overdueQuestions, 0, labels({ server }));
    }
    for (const [state, count] of Object.entries(turns)) result.observe(gauges.turns, count, { state });
    result.observe(gauges.outboxPending, outbox.pending);
    result.observe(gauges.outboxOldest, seconds(outbox.overdueMs));
  };
  meter.addBatchObservableCallback(observe, all);
  return () => meter.removeBatchObservableCallback(observe, all);
}
