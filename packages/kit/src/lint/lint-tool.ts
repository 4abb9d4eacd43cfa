/**
 * Calls one tool several times: declines its questions, cancels them, and answers them where there are answers. Then checks how
 * each call ended.
 */
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { couldNotAsk } from '@interlude-ai/core/mcp/could-not-ask.ts';
import type { AnswerSource } from '../answers/source.ts';
import { sendCall } from '../call/any-client.ts';
import type { ToolToCall } from '../call/any-client.ts';
import { textOfEnd } from '../call/call-events.ts';
import type { ToolCallReport } from '../call/call-events.ts';
import { callTool } from '../call/call-tool.ts';
import type { CallToolOptions } from '../call/call-tool.ts';
import { clauses } from '../call/fault.ts';
import type { Clause } from '../call/fault.ts';
import { cut } from '../terminal/terminal-text.ts';
import { withReason } from '../try/connect-server.ts';
import type { ListedTool } from '../try/list-tools.ts';
import { inspectCall, questionsIn } from './inspect-question.ts';
import type { InspectedCall } from './inspect-question.ts';
import { toFinding } from './rules.ts';
import type { Finding, RuleName, Seen } from './rules.ts';
import type { ServerConnection, ServerConnections } from './server-connections.ts';

interface LintCall {
  connections: ServerConnections;
  /** Empty: its questions are only declined and cancelled. */
  sources: readonly AnswerSource[];
  options: CallToolOptions;
  /** Another process of the server may continue a call. */
  isRemote: boolean;
}

interface LintedCall {
  findings: Finding[];
  /** Their distinct messages. */
  questions: Set<string>;
}

type Pass = { report: ToolCallReport } & InspectedCall;

export async function lintCall(
  tool: ListedTool,
  input: Record<string, unknown>,
  { connections, sources, options, isRemote }: LintCall,
): Promise<LintedCall> {
  const { name, inputSchema, outputSchema } = tool;
  const call = { name, arguments: input, inputSchema, outputSchema };
  async function pass(answers: readonly AnswerSource[]): Promise<Pass> {
    const connection = await connections.current();
    connection.received();
    const called = await callTool(connection.client, call, { ...options, answers });
    const report = withReason(called, connection.gone());
    const inspected = inspectCall(connection.received(), report.era);
    if (report.end.kind !== 'result' && report.end.kind !== 'error') await connections.discard();
    return { report, ...inspected };
  }

  const declined = await pass([always('decline')]);
  const passes = [declined];
  const seen: Seen[] = [...checkEnding('decline', declined.report), ...checkEra(declined.report)];
  if (declined.questions.length > 0) {
    const cancelled = await pass([always('cancel')]);
    passes.push(cancelled);
    seen.push(...checkEnding('cancel', cancelled.report), ...compareKeys(declined, cancelled));
    if (isRemote && declined.report.era === 'modern') seen.push(...(await checkState(connections, call)));
  }
  if (declined.questions.length > 0 && sources.length > 0) {
    const answered = await pass(sources);
    passes.push(answered);
    seen.push(...checkIgnored(declined.report, answered.report), ...checkCompletion(answered));
  }

  const all = [...passes.flatMap((one) => one.seen), ...seen].map((one) => toFinding(tool.name, one));
  const faults = passes.flatMap(({ report }) => faultFinding(tool.name, report, all));
  return {
    findings: withoutRepeats([...all, ...faults]),
    questions: new Set(
      passes.flatMap(({ questions }) => questions.map(({ params }) => String(params['message']))),
    ),
  };
}

function always(action: 'decline' | 'cancel'): AnswerSource {
  return {
    name: action,
    kind: 'rule',
    answer: ({ questions }) => new Map(questions.map(({ key }) => [key, { action }])),
  };
}

/** Repeated calls should ask by the same keys. */
function compareKeys({ report, questions }: Pass, other: Pass): Seen[] {
  if (report.era === 'legacy') return [];
  const [one, another] = [questions[0], other.questions[0]];
  if (!one || !another || one.key === another.key) return [];
  const message = `Its question has another key in each call: "${one.key.slice(0, 40)}", "${another.key.slice(0, 40)}".`;
  return [{ rule: 'unstable-keys', question: String(one.params['message']), message }];
}

/** After an accepted page, the server should say when it is done. */
function checkCompletion({ report: { era, end }, questions, completed }: Pass): Seen[] {
  if (era === 'modern' || end.kind !== 'result' || end.result.isError === true) return [];
  const page = questions.find(
    ({ params }) => params['mode'] === 'url' && !completed.includes(String(params['elicitationId'])),
  );
  if (!page) return [];
  const message = 'It went on after its page without notifications/elicitation/complete.';
  return [{ rule: 'missing-completion', question: String(page.params['message']), message }];
}

function withoutRepeats(findings: readonly Finding[]): Finding[] {
  const keyOf = ({ rule, question, message }: Finding) => JSON.stringify([rule, question, message]);
  return [...new Map(findings.map((one) => [keyOf(one), one])).values()];
}

/** Faults of questions have rules of their own. */
const ofQuestions: readonly Clause[] = [clauses.requestedSchema, clauses.url, clauses.elicitationId];
const ofEras: readonly Clause[] = [clauses.noServerRequests, clauses.urlRequiredRemoved, clauses.resultType];

/** A fault of the call itself, unless it was found in more detail before. */
function faultFinding(tool: string, { end, rounds }: ToolCallReport, found: readonly Finding[]): Finding[] {
  if (end.kind === 'timeout' && rounds.length === 0) {
    const did = end.of === 'silence' ? 'It said nothing' : 'It came to no result';
    const message = `${did} for ${end.afterMs / 1_000} s.`;
    return [{ rule: 'protocol', level: 'error', tool, message, clause: clauses.answered }];
  }
  if (end.kind !== 'fault') return [];
  const { message, clause } = end.fault;
  if (ofQuestions.includes(clause) && found.some(({ level }) => level === 'error')) return [];
  const rule: RuleName = ofEras.includes(clause) ? 'wrong-era' : 'protocol';
  return [{ rule, level: 'error', tool, message, clause }];
}

/** Error messages of programs that did not expect missing content. */
const crash =
  /TypeError|KeyError|AttributeError|ReferenceError|NullPointer|nil pointer|Cannot (?:read|destructure) propert|of undefined|NoneType|is not iterable|Traceback|ZodError|validation error/i;
const internalError = -32603;

/** How a call ended whose questions were declined or cancelled. */
function checkEnding(action: 'decline' | 'cancel', { end, rounds }: ToolCallReport): Seen[] {
  if (rounds.length === 0) return [];
  const did = action === 'decline' ? 'declined' : 'cancelled';
  const question = rounds.at(-1)?.questions[0]?.request.message ?? '';
  const seen = (message: string): Seen[] => [{ rule: 'no-decline-path', question, message }];
  switch (end.kind) {
    case 'result':
      return end.result.isError === true && crash.test(textOfEnd(end))
        ? seen(`It breaks when its question is ${did}: ${short(textOfEnd(end))}`)
        : [];
    case 'error':
      return end.code === internalError
        ? seen(`It breaks when its question is ${did}: ${short(end.message)} (${end.code}).`)
        : [];
    case 'unanswered':
      return seen(`It asks ${rounds.length} times and more, though each question is ${did}.`);
    case 'timeout':
      return seen(
        `It ${end.of === 'silence' ? 'says nothing' : 'comes to no result'} for ${end.afterMs / 1_000} s when its question is ${did}.`,
      );
    case 'fault':
    case 'stopped':
      return [];
    default:
      return end satisfies never;
  }
}

/** The tool asks in the way of the other era: clients of this one never see its question. */
function checkEra({ end, era }: ToolCallReport): Seen[] {
  const answer = end.kind === 'error' ? { error: end } : end;
  if ((end.kind !== 'error' && end.kind !== 'result') || !couldNotAsk(answer)) return [];
  const words = end.kind === 'error' ? end.message : textOfEnd(end);
  return [
    {
      rule: 'asks-in-other-era',
      message: `It fails because it asks in a way that ${era === 'modern' ? '2026-07-28' : '2025-11-25'} does not have: ${short(words)}`,
    },
  ];
}

/** Declined and answered questions lead to the same result. */
function checkIgnored(declined: ToolCallReport, answered: ToolCallReport): Seen[] {
  const accepted = answered.rounds.some(({ answers }) => answers.some(({ action }) => action === 'accept'));
  const [one, other] = [declined.end, answered.end];
  if (!accepted || one.kind !== 'result' || other.kind !== 'result' || one.result.isError === true) return [];
  if (JSON.stringify(one.result) !== JSON.stringify(other.result)) return [];
  const question = declined.rounds[0]?.questions[0]?.request.message ?? '';
  return [
    {
      rule: 'decline-ignored',
      question,
      message: 'It says the same when its question is declined as when it is answered.',
    },
  ];
}

function short(text: string): string {
  return cut(text.replaceAll(/\s+/g, ' ').trim(), 120);
}

// Whether a retry is self-contained (2026-07-28): over another connection, after its answer was lost, and with a changed state.
// Every retry declines the question.

const timeoutMs = 30_000;

async function checkState(connections: ServerConnections, tool: ToolToCall): Promise<Seen[]> {
  const first = await send(await connections.current(), tool, {});
  const state = isRecord(first) ? first['requestState'] : undefined;
  const questions = questionsIn({ result: first });
  if (typeof state !== 'string' || state === '' || questions.length === 0) return [];
  const question = String(questions[0]?.params['message']);
  const inputResponses = Object.fromEntries(questions.map(({ key }) => [key, { action: 'decline' }]));

  const connection = await connections.another();
  try {
    const retry = { inputResponses, requestState: state };
    if ((await send(connection, tool, retry)) === null)
      return [
        { rule: 'unstable-state', question, message: 'It refuses its own state over another connection.' },
      ];
    if ((await send(connection, tool, retry)) === null)
      return [{ rule: 'unstable-state', question, message: 'It takes its state only once.' }];
    const changed = await send(connection, tool, { inputResponses, requestState: altered(state) });
    if (changed !== null && !isRefusal(changed))
      return [
        {
          rule: 'state-unprotected',
          question,
          message: 'It goes on with a state that was changed on the way.',
        },
      ];
    return [];
  } finally {
    await connection.close().catch(() => undefined);
  }
}

/** The raw result; null for a refusal. */
async function send(connection: ServerConnection, tool: ToolToCall, more: object): Promise<unknown> {
  connection.received();
  const { name, arguments: input = {} } = tool;
  const signal = AbortSignal.timeout(timeoutMs);
  await sendCall(connection.client, tool, { name, arguments: input, ...more }, signal).catch(() => null);
  const answer = connection.received().findLast((message) => 'result' in message || 'error' in message);
  return answer?.['result'] ?? null;
}

function isRefusal(result: unknown): boolean {
  return isRecord(result) && result['isError'] === true;
}

/** Changes a letter in the middle: the last ones of an encoding may be padding. */
function altered(state: string): string {
  const at = Math.floor(state.length / 2);
  return state.slice(0, at) + (state[at] === 'x' ? 'y' : 'x') + state.slice(at + 1);
}
