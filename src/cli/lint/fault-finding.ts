/** What the call itself made a fault of, unless it was seen in more detail before. */
import type { ToolCallReport } from '../../testing/call/call-events.ts';
import { clauses } from '../../testing/call/fault.ts';
import type { Clause } from '../../testing/call/fault.ts';
import type { Finding, RuleName } from './rules.ts';

/** Faults of a question, which the rules tell apart. */
const ofQuestions: readonly Clause[] = [clauses.requestedSchema, clauses.url, clauses.elicitationId];
const ofEras: readonly Clause[] = [clauses.noServerRequests, clauses.urlRequiredRemoved, clauses.resultType];

export function faultFinding(
  tool: string,
  { end, rounds }: ToolCallReport,
  found: readonly Finding[],
): Finding[] {
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
