/** The questions a server asks in the middle of one tool call, and what becomes of them. */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { AskResult, QuestionOutcome } from '../turn/ask.ts';
import type { CallPaused, RoundRef, ServerCall } from '../turn/tool-call.ts';
import { abandonCall } from './activities.ts';
import type { Elicit } from './elicit.ts';
import type { ServerNews, TurnInput } from './messages.ts';
import type { Questions } from './questions.ts';
import type { CallListener } from './server-signals.ts';
import type { UnwrittenOutcomes } from './unwritten-outcomes.ts';

export interface QuestionParts {
  questions: Questions;
  unwritten: UnwrittenOutcomes;
  elicit: Elicit;
  /** Counts the call among those that only wait for a person. */
  whileAsking<T>(toolCallId: string, ask: () => Promise<T>): Promise<T>;
  /** Only the end of the turn waits for this work, which is short. */
  inBackground(work: Promise<void>): void;
}

export interface ServerQuestions extends CallListener {
  /** Asks everything at once and waits for all of it; null when the user has too many open questions already. */
  ask(paused: CallPaused): Promise<QuestionOutcome[] | null>;
  /** The worker that held the connection has died: the server is told that nobody comes back. */
  abandon(): void;
  /** The call is over: nobody waits for what is still open. */
  end(): void;
}

/** `tooMany` is called when a question that came by signal could not be asked. */
export function createServerQuestions(
  turn: TurnInput,
  { toolCallId, server, toolName, tool }: ServerCall,
  { questions, unwritten, elicit, whileAsking, inBackground }: QuestionParts,
  tooMany: () => void,
): ServerQuestions {
  const asked = new Set<string>();
  /** The latest round that came by signal: an activity holds the connection. */
  let heldRound: number | undefined;

  function askAll({ round, questions: open }: Pick<CallPaused, 'round' | 'questions'>): Promise<AskResult[]> {
    const ids = open.map(({ elicitationId }) => elicitationId);
    return Promise.all(
      open.map(async ({ elicitationId, mode }) => {
        asked.add(elicitationId);
        const ask = { kind: 'server', server, tool: tool ?? toolName, toolCallId, round, mode } as const;
        const result = await elicit(ask, turn.user ?? '', elicitationId);
        // One that cannot be asked ends the call, and with it what else it wanted to know.
        if (result === 'too-many-open') for (const id of ids) questions.apply(id, { type: 'abandoned' });
        // Nothing goes on before all are answered, but nobody should be shown an answered question as open.
        if (ids.some(questions.isPending)) void unwritten.write();
        return result;
      }),
    );
  }

  async function ask(paused: CallPaused): Promise<QuestionOutcome[] | null> {
    try {
      const results = await whileAsking(toolCallId, () => askAll(paused));
      if (!results.includes('too-many-open'))
        return paused.questions.map(({ elicitationId }) => outcomeOf(elicitationId));
      if (paused.isLeftOpen) abandonRound(paused.round);
      return null;
    } catch (error) {
      if (isCancellation(error) && paused.isLeftOpen) abandonRound(paused.round);
      throw error;
    }
  }

  function outcomeOf(elicitationId: string): QuestionOutcome {
    const { outcome = 'expired', responseId = null } = questions.settlement(elicitationId) ?? {};
    return { elicitationId, outcome, responseId } as const;
  }

  /** Tells the server that nobody comes back to its half of the call. */
  function abandonRound(round: number): void {
    const ref: RoundRef = { turn, toolCallId, server, round };
    inBackground(CancellationScope.nonCancellable(() => abandonCall(ref)).catch(() => undefined));
  }

  return {
    ask,
    onAsks({ round, questions: all }) {
      const fresh = all.filter(({ elicitationId }) => !asked.has(elicitationId));
      heldRound = round;
      if (fresh.length === 0) return;
      whileAsking(toolCallId, () => askAll({ round, questions: fresh })).then(
        (results) => {
          // The activity that holds the connection reads the answers from the database.
          void unwritten.write();
          if (results.includes('too-many-open')) tooMany();
        },
        () => unwritten.write(),
      );
    },
    onNews({ elicitationIds, news }) {
      for (const id of elicitationIds) if (asked.has(id)) questions.apply(id, eventOf(news));
    },
    abandon() {
      if (heldRound !== undefined) abandonRound(heldRound);
    },
    end() {
      for (const id of asked) questions.apply(id, { type: 'withdrawn', because: 'server_gone' });
    },
  };
}

function eventOf(news: ServerNews['news']) {
  return news === 'page_done'
    ? ({ type: 'page-done' } as const)
    : ({ type: 'withdrawn', because: news } as const);
}
