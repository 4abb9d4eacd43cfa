/** The questions a server asks in the middle of one tool call, and what becomes of them. */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { QuestionOutcome } from '../turn/ask.ts';
import type { CallPaused, RoundRef, ServerCall } from '../turn/tool-call.ts';
import { abandonCall } from './activities.ts';
import type { Listener } from './server-signals.ts';
import type { ServerNews, TurnInput } from './messages.ts';
import type { Asking } from './tool-call.ts';

export interface ServerQuestions extends Listener {
  /** CallPaused everything at once and waits for all of it; null when the user has too many open questions already. */
  ask(asked: CallPaused): Promise<QuestionOutcome[] | null>;
  /** Whoever held the line says nothing any more: its server is told that nobody will. */
  abandon(): void;
  /** The call is over: nobody waits for what is still open. */
  end(): void;
}

/** `tooMany` is called when a question that came by signal could not be asked. */
export function createServerQuestions(
  turn: TurnInput,
  { toolCallId, server, toolName, tool }: ServerCall,
  { questions, whileWaiting, beside }: Pick<Asking, 'questions' | 'whileWaiting' | 'beside'>,
  tooMany: () => void,
): ServerQuestions {
  const known = new Set<string>();
  /** While somebody holds the line. */
  let heldRound: number | undefined;

  async function ask(asked: CallPaused): Promise<QuestionOutcome[] | null> {
    try {
      const outcomes = await whileWaiting(toolCallId, () => all(asked));
      if (!outcomes.includes('too-many-open'))
        return asked.questions.map(({ elicitationId }) => questions.given(elicitationId));
      leave(asked);
      return null;
    } catch (error) {
      if (isCancellation(error)) leave(asked);
      throw error;
    }
  }

  function all({ round, questions: asked }: Pick<CallPaused, 'round' | 'questions'>) {
    const ids = asked.map(({ elicitationId }) => elicitationId);
    return Promise.all(
      asked.map(async ({ elicitationId, mode }) => {
        known.add(elicitationId);
        const need = { kind: 'server', server, tool: tool ?? toolName, toolCallId, round, mode } as const;
        const outcome = await questions.elicit(need, turn.user ?? '', elicitationId);
        // One that cannot be asked ends the call, and with it what else it wanted to know.
        if (outcome === 'too-many-open') for (const id of ids) questions.close(id, { type: 'abandoned' });
        // Nothing goes on before all are answered, but nobody should be shown an answered question as open.
        if (ids.some(questions.isOpen)) void questions.outcomes.write();
        return outcome;
      }),
    );
  }

  /** Nobody waits for the call any more: a server that keeps its half of it is told so. */
  function leave({ isLeftOpen, round }: CallPaused): void {
    if (isLeftOpen) sayGoodbye(round);
  }

  function sayGoodbye(round: number): void {
    const call: RoundRef = { turn, toolCallId, server, round };
    beside(CancellationScope.nonCancellable(() => abandonCall(call)).catch(() => undefined));
  }

  function hear({ elicitationIds, news }: ServerNews): void {
    for (const id of elicitationIds) {
      if (!known.has(id)) continue;
      questions.close(
        id,
        news === 'page_done' ? { type: 'page-done' } : { type: 'withdrawn', because: news },
      );
    }
  }

  return {
    ask,
    asks({ round, questions: asked }) {
      const fresh = asked.filter(({ elicitationId }) => !known.has(elicitationId));
      heldRound = round;
      if (fresh.length === 0) return;
      whileWaiting(toolCallId, () => all({ round, questions: fresh })).then(
        (outcomes) => {
          // Whoever holds the line reads the answers from the database.
          void questions.outcomes.write();
          if (outcomes.includes('too-many-open')) tooMany();
        },
        () => questions.outcomes.write(),
      );
    },
    news: hear,
    abandon() {
      if (heldRound !== undefined) sayGoodbye(heldRound);
    },
    end() {
      for (const id of known) questions.close(id, { type: 'withdrawn', because: 'server_gone' });
    },
  };
}
