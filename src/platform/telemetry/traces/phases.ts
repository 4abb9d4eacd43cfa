/**
 * The phases of an agent's work: from its beginning to the first pause, and from the end of each pause to the next one. An
 * agent pauses while a question is open that one of its calls waits for, or a call of an agent that it has delegated to.
 * All processes derive the same phases from the rows, however many questions and processes there are.
 */
import type { TracedQuestion, TurnTrace } from '../../../storage/tables/turn-traces.ts';

export interface Phase {
  /** The question that ended the pause before the phase; empty for the first phase. */
  key: string;
  startedAt: number;
  /** The questions of the pause before. */
  resumedFrom: string[];
  /** The pause after the phase; null while the agent works. */
  pause: {
    startedAt: number;
    /** The question that began the pause, and how many calls of the agent, or of those below it, wait for it. */
    first: { id: string; waiting: number };
    /** The questions that are still open. */
    questions: string[];
  } | null;
}

interface Pause {
  startedAt: number;
  questions: TracedQuestion[];
}

/** The latest phase. `agent`: the call that delegated to it; null for the turn's own agent. */
export function latestPhase(trace: TurnTrace, agent: string | null): Phase {
  const began = agent === null ? trace.startedAt : (trace.delegates.get(agent)?.startedAt ?? trace.startedAt);
  const pauses = pausesIn(
    trace.questions.filter((one) => one.agents.some((by) => isBelow(trace, by, agent))),
  );
  const open = pauses.at(-1)?.questions.some(isOpen) ? pauses.at(-1) : undefined;
  const [first] = open?.questions ?? [];
  const before = pauses.at(open ? -2 : -1);
  const last = before?.questions.toSorted(bySettling).at(-1);
  return {
    key: last?.id ?? '',
    startedAt: last?.settledAt ?? began,
    resumedFrom: last ? (before?.questions.map(({ id }) => id) ?? []) : [],
    pause:
      open && first
        ? {
            startedAt: open.startedAt,
            first: { id: first.id, waiting: first.agents.filter((by) => isBelow(trace, by, agent)).length },
            questions: open.questions.filter(isOpen).map(({ id }) => id),
          }
        : null,
  };
}

/** Questions that were open at the same time are one pause. */
function pausesIn(questions: TracedQuestion[]): Pause[] {
  const pauses: Pause[] = [];
  for (const question of questions.toSorted(byAsking)) {
    const latest = pauses.at(-1);
    const end = Math.max(...(latest?.questions.map(({ settledAt }) => settledAt ?? Infinity) ?? []));
    if (latest && question.askedAt < end) latest.questions.push(question);
    else pauses.push({ startedAt: question.askedAt, questions: [question] });
  }
  return pauses;
}

/** Whether `one` is the agent itself, or was delegated to by it, directly or indirectly. */
function isBelow(trace: TurnTrace, one: string | null, agent: string | null): boolean {
  if (one === agent || agent === null) return true;
  const by = one === null ? null : (trace.delegates.get(one)?.delegatedBy ?? null);
  return by !== null && isBelow(trace, by, agent);
}

function isOpen({ settledAt }: TracedQuestion): boolean {
  return settledAt === null;
}

function byAsking(one: TracedQuestion, other: TracedQuestion): number {
  return one.askedAt - other.askedAt || (one.id < other.id ? -1 : 1);
}

function bySettling(one: TracedQuestion, other: TracedQuestion): number {
  return (one.settledAt ?? 0) - (other.settledAt ?? 0) || (one.id < other.id ? -1 : 1);
}
