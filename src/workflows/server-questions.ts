/** Asks the questions that a server has in the middle of one tool call, and closes those that nobody waits for. */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { AskResult, QuestionOutcome } from '../turn/ask.ts';
import type { CallPaused, RoundRef, ServerCall } from '../turn/tool-call.ts';
import { abandonCall } from './activities.ts';
import type { Elicit } from './elicit.ts';
import type { QuestionUpdate, TurnInput } from './messages.ts';
import type { Questions } from './questions.ts';
import type { CallListener } from './server-signals.ts';
import type { UnwrittenOutcomes } from './unwritten-outcomes.ts';

export interface QuestionParts {
  questions: Questions;
  unwritten: UnwrittenOutcomes;
  elicit: Elicit;
  /** As in `Phase`. */
  whileAsking<T>(toolCallId: string, ask: () => Promise<T>): Promise<T>;
  /** Nothing waits for `work` but the end of the turn; it has to be short. */
  inBackground(work: Promise<void>): void;
}

export interface ServerQuestions extends CallListener {
  /** Asks all questions of a round at once and waits for all; null when the user has too many open questions already. */
  ask(paused: CallPaused): Promise<QuestionOutcome[] | null>;
  /** The worker that held the connection has died: tells the server that the call is abandoned. */
  abandon(): void;
  /** The call is over: withdraws the questions that are still open. */
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
        // A question that cannot be asked ends the call, so that the others of its round are closed.
        if (result === 'too-many-open') for (const id of ids) questions.apply(id, { type: 'abandoned' });
        // The call waits for the other answers; this one is written now, so that nobody is shown its question as open.
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

  /** Tells the server that the call is abandoned. */
  function abandonRound(round: number): void {
    const ref: RoundRef = { turn, toolCallId, server, round };
    inBackground(CancellationScope.nonCancellable(() => abandonCall(ref)).catch(() => undefined));
  }

  return {
    ask,
    onQuestions({ round, questions: all }) {
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
    onQuestionUpdate({ elicitationIds, news: change }) {
      for (const id of elicitationIds) if (asked.has(id)) questions.apply(id, eventOf(change));
    },
    abandon() {
      if (heldRound !== undefined) abandonRound(heldRound);
    },
    end() {
      for (const id of asked) questions.apply(id, { type: 'withdrawn', because: 'server_gone' });
    },
  };
}

function eventOf(change: QuestionUpdate['news']) {
  return change === 'page_done'
    ? ({ type: 'page-done' } as const)
    : ({ type: 'withdrawn', because: change } as const);
}
