/** Asks the questions that a server has in the middle of one tool call, and closes those that nobody waits for. */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { isTooManyOpen } from '../turn/ask.ts';
import type { AskResult, QuestionOutcome, ServerAsk, TooManyOpen } from '../turn/ask.ts';
import type { CallPaused, RoundRef, ServerCall } from '../turn/tool-call.ts';
import { abandonCall } from './activities.ts';
import type { Elicit } from './elicit.ts';
import type { QuestionUpdate, ServerAsks, TurnInput } from './messages.ts';
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

export class ServerQuestions implements CallListener {
  readonly #turn: TurnInput;
  readonly #call: ServerCall;
  readonly #parts: QuestionParts;
  readonly #tooMany: (which: TooManyOpen) => void;
  readonly #asked = new Set<string>();
  /** The latest round that came by signal: an activity holds the connection. */
  #heldRound: number | undefined;

  /** `tooMany` is called when a question that came by signal could not be asked. */
  constructor(
    turn: TurnInput,
    call: ServerCall,
    parts: QuestionParts,
    tooMany: (which: TooManyOpen) => void,
  ) {
    this.#turn = turn;
    this.#call = call;
    this.#parts = parts;
    this.#tooMany = tooMany;
  }

  /** Asks all questions of a round at once and waits for all, unless too many are open already. */
  async ask(paused: CallPaused): Promise<QuestionOutcome[] | TooManyOpen> {
    const { toolCallId } = this.#call;
    try {
      const results = await this.#parts.whileAsking(toolCallId, () => this.#askAll(paused));
      const tooMany = results.find(isTooManyOpen);
      if (!tooMany) return paused.questions.map(({ elicitationId }) => this.#outcomeOf(elicitationId));
      if (paused.isLeftOpen) this.#abandonRound(paused.round);
      return tooMany;
    } catch (error) {
      if (isCancellation(error) && paused.isLeftOpen) this.#abandonRound(paused.round);
      throw error;
    }
  }

  onQuestions({ round, questions }: ServerAsks): void {
    const { unwritten, whileAsking } = this.#parts;
    const fresh = questions.filter(({ elicitationId }) => !this.#asked.has(elicitationId));
    this.#heldRound = round;
    if (fresh.length === 0) return;
    whileAsking(this.#call.toolCallId, () => this.#askAll({ round, questions: fresh })).then(
      (results) => {
        // The activity that holds the connection reads the answers from the database.
        void unwritten.write();
        const tooMany = results.find(isTooManyOpen);
        if (tooMany) this.#tooMany(tooMany);
      },
      () => unwritten.write(),
    );
  }

  onQuestionUpdate({ elicitationIds, news }: QuestionUpdate): void {
    for (const id of elicitationIds) if (this.#asked.has(id)) this.#parts.questions.apply(id, eventOf(news));
  }

  /** The worker that held the connection has died: tells the server that the call is abandoned. */
  abandon(): void {
    if (this.#heldRound !== undefined) this.#abandonRound(this.#heldRound);
  }

  /** The call is over: withdraws the questions that are still open. */
  end(): void {
    for (const id of this.#asked)
      this.#parts.questions.apply(id, { type: 'withdrawn', because: 'server_gone' });
  }

  #askAll({ round, questions }: Pick<CallPaused, 'round' | 'questions'>): Promise<AskResult[]> {
    const { toolCallId, server, toolName } = this.#call;
    const tool = this.#call.tool ?? toolName;
    const ids = questions.map(({ elicitationId }) => elicitationId);
    return Promise.all(
      questions.map(({ elicitationId, ...question }) => {
        this.#asked.add(elicitationId);
        const ask = { kind: 'server' as const, server, tool, toolCallId, round, ...question };
        return this.#askOne(ask, elicitationId, ids);
      }),
    );
  }

  /** `round`: the ids of all questions that are asked with it. */
  async #askOne(ask: ServerAsk, elicitationId: string, round: string[]): Promise<AskResult> {
    const { questions, unwritten, elicit } = this.#parts;
    const result = await elicit(ask, this.#turn.user ?? '', elicitationId);
    // A question that cannot be asked ends the call, so that the others of its round are closed.
    if (isTooManyOpen(result)) for (const id of round) questions.apply(id, { type: 'abandoned' });
    // The call waits for the other answers; this one is written now, so that nobody is shown its question as open.
    if (round.some(questions.isPending)) void unwritten.write();
    return result;
  }

  #outcomeOf(elicitationId: string): QuestionOutcome {
    const { outcome = 'expired', responseId = null } = this.#parts.questions.settlement(elicitationId) ?? {};
    return { elicitationId, outcome, responseId };
  }

  /** Tells the server that the call is abandoned. */
  #abandonRound(round: number): void {
    const { toolCallId, server } = this.#call;
    const ref: RoundRef = { turn: this.#turn, toolCallId, server, round };
    const abandoned = CancellationScope.nonCancellable(() => abandonCall(ref)).catch(() => undefined);
    this.#parts.inBackground(abandoned);
  }
}

function eventOf(change: QuestionUpdate['news']) {
  return change === 'page_done'
    ? ({ type: 'page-done' } as const)
    : ({ type: 'withdrawn', because: change } as const);
}
