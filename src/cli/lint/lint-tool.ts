/** Calls one tool again and again: its questions declined, cancelled, and answered where somebody has answers. */
import type { AnswerSource } from '../../testing/answers/source.ts';
import type { ToolCallReport } from '../../testing/call/call-events.ts';
import { callTool } from '../../testing/call/call-tool.ts';
import type { CallToolOptions } from '../../testing/call/call-tool.ts';
import type { ListedTool } from '../try/list-tools.ts';
import { withReason } from '../try/why-gone.ts';
import { checkEnding, checkEra, checkIgnored } from './check-ending.ts';
import { checkState } from './check-state.ts';
import { faultFinding } from './fault-finding.ts';
import { hearCall } from './hear-call.ts';
import type { Heard } from './hear-call.ts';
import { toFinding } from './rules.ts';
import type { Finding, Seen } from './rules.ts';
import type { Sessions } from './session.ts';

export interface LintCall {
  sessions: Sessions;
  /** None: its questions are not answered, only declined and cancelled. */
  sources: readonly AnswerSource[];
  options: CallToolOptions;
  /** A call may be continued by another process of the server. */
  isRemote: boolean;
}

export interface LintedCall {
  findings: Finding[];
  /** Different questions, by their words. */
  questions: Set<string>;
}

type Pass = { report: ToolCallReport } & Heard;

export async function lintCall(
  tool: ListedTool,
  input: Record<string, unknown>,
  { sessions, sources, options, isRemote }: LintCall,
): Promise<LintedCall> {
  const { name, inputSchema, outputSchema } = tool;
  const call = { name, arguments: input, inputSchema, outputSchema };
  async function pass(answers: readonly AnswerSource[]): Promise<Pass> {
    const session = await sessions.current();
    session.heard();
    const called = await callTool(session.client, call, { ...options, answers });
    const report = withReason(called, session.gone());
    const heard = hearCall(session.heard(), report.era);
    if (report.end.kind !== 'result' && report.end.kind !== 'error') await sessions.discard();
    return { report, ...heard };
  }

  const declined = await pass([always('decline')]);
  const passes = [declined];
  const seen: Seen[] = [...checkEnding('decline', declined.report), ...checkEra(declined.report)];
  if (declined.questions.length > 0) {
    const cancelled = await pass([always('cancel')]);
    passes.push(cancelled);
    seen.push(...checkEnding('cancel', cancelled.report), ...compareKeys(declined, cancelled));
    if (isRemote && declined.report.era === 'modern') seen.push(...(await checkState(sessions, call)));
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

/** The same call asks by the same keys. */
function compareKeys({ report, questions }: Pass, other: Pass): Seen[] {
  if (report.era === 'legacy') return [];
  const [one, another] = [questions[0], other.questions[0]];
  if (!one || !another || one.key === another.key) return [];
  const message = `Its question has another key in each call: "${one.key.slice(0, 40)}", "${another.key.slice(0, 40)}".`;
  return [{ rule: 'unstable-keys', question: String(one.params['message']), message }];
}

/** Pages that were agreed to: whether the server said when it was over. */
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
