/**
 * One session of an editor: a conversation at the service, whose feed it follows from the first prompt on. All that the
 * feed says becomes updates, in order, whichever prompt or surface it comes from. A prompt is answered when its turn ends,
 * or when the turn waits for a person who cannot be asked in a dialog here.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '../../client/client.ts';
import { InterludeError } from '../../client/interlude-error.ts';
import type { ConnectionStatus } from '../../client/reconnect.ts';
import type { StreamEvent } from '../../contract/stream-event.ts';
import { answerInWords } from '../../elicitation/answer-in-words.ts';
import type { ElicitationRequest as Question } from '../../elicitation/elicitation.ts';
import type { Editor } from './editor.ts';
import { OpenQuestions } from './questions/open-questions.ts';
import { Turns } from './turns.ts';
import type { Turn } from './turns.ts';
import type { PromptMessage } from './updates/prompt-message.ts';
import type { TurnEnd } from './updates/stop-reason.ts';
import { chunk, createToUpdates } from './updates/to-updates.ts';

export interface SessionParts {
  id: string;
  client: Client;
  editor: Editor;
  /** Its address, without a slash at the end. */
  service: string;
}

/** Where a conversation that was there before stands. */
export interface Standing {
  agent: string;
  /** Where the feed goes on after what was told already. */
  position: number;
  liveTurn: string | undefined;
  /** What was said before, in milliseconds since 1970 by the service's clock, is known and not told again. */
  mutedUntil: number;
}

type Message = Extract<PromptMessage, { kind: 'message' }>;

interface Prompt {
  isCancelled: boolean;
  /** Aborts when the service has not confirmed in time that the cancelled turn is over. */
  overdue: AbortController;
}

/** Where the service cannot be reached, the editor is not kept waiting. */
const cancelTimeoutMs = 10_000;
/** For a cancel that was sent just before the editor left. */
const lastWordsMs = 5_000;
const cancelled: TurnEnd = { kind: 'stopped', stopReason: 'cancelled' };

export class Session {
  readonly id: string;
  /** Whom it talks to; undefined is the service's first agent. Fixed once the conversation has begun. */
  agent: string | undefined;
  hasBegun = false;
  readonly #parts: SessionParts;
  readonly #turns = new Turns();
  readonly #questions: OpenQuestions;
  readonly #translate = createToUpdates();
  readonly #left = new AbortController();
  /** Nothing is sent any more. */
  readonly #gone = new AbortController();
  #position = 0;
  #mutedUntil = 0;
  #isFollowing = false;
  #isLost = false;
  #prompt: Prompt | undefined;

  constructor(parts: SessionParts, agent: string | undefined) {
    const { id, client, editor, service } = parts;
    this.id = id;
    this.agent = agent;
    this.#parts = parts;
    this.#questions = new OpenQuestions({
      client,
      editor,
      service,
      conversationId: id,
      say: (words) => this.#say(words),
      isPrompting: () => this.#prompt?.isCancelled === false,
      changed: () => this.#turns.changed(),
    });
  }

  get isPrompting(): boolean {
    return this.#prompt !== undefined;
  }

  /** Goes on with a conversation that was there before. */
  join({ agent, position, liveTurn, mutedUntil }: Standing): void {
    this.agent = agent;
    this.hasBegun = true;
    this.#mutedUntil = mutedUntil;
    this.#position = position;
    if (liveTurn !== undefined) this.#turns.named(liveTurn);
    this.#follow();
  }

  /** Resolves when the editor's user has the word again. One at a time. */
  async prompt(message: Message): Promise<TurnEnd> {
    const prompt: Prompt = { isCancelled: false, overdue: new AbortController() };
    this.#prompt = prompt;
    try {
      const earlier = this.#turns.live;
      const ofEarlier = earlier && (await this.#finish(earlier, message, prompt));
      return ofEarlier ?? (await this.#start(message, prompt));
    } finally {
      this.#prompt = undefined;
      this.#turns.forgetEnded();
    }
  }

  /** Ends the turn of the prompt, and takes its dialogs away. */
  cancel(): void {
    const prompt = this.#prompt;
    if (!prompt || prompt.isCancelled) return;
    prompt.isCancelled = true;
    this.#questions.withdraw();
    this.#turns.changed();
    setTimeout(() => {
      prompt.overdue.abort();
      this.#turns.changed();
    }, cancelTimeoutMs).unref();
    this.#cancelTurn();
  }

  /** Ends what is going on, and is not spoken to any more. */
  close(): void {
    this.cancel();
    this.leave();
  }

  /** Stops following; what the service is asked for goes on without us. */
  leave(): void {
    this.#left.abort();
    this.#questions.withdraw();
    setTimeout(() => this.#gone.abort(), lastWordsMs).unref();
  }

  /** An earlier message is still being answered. Null when this one is to follow it. */
  async #finish(earlier: Turn, message: Message, prompt: Prompt): Promise<TurnEnd | null> {
    const question = this.#questions.inWords;
    if (question) {
      const read = answerInWords(message, question as Question);
      const answered = read.kind === 'misfit' ? read : await this.#questions.answer(question, read.response);
      if (answered.kind === 'answered') return this.#rest(earlier, prompt);
      await this.#say(`That does not fit:\n${answered.reasons}\n\nPlease answer again, or “no” to decline.`);
      return { kind: 'waiting' };
    }
    if (!this.#questions.isAnyOpen)
      await this.#notice('An earlier message is still being worked on; this one comes after it.');
    this.#questions.askAgain();
    const end = await this.#rest(earlier, prompt);
    // One that still cannot be asked here makes room, as it does on every surface.
    return prompt.isCancelled ? end : null;
  }

  async #start(message: Message, prompt: Prompt): Promise<TurnEnd> {
    const { client, id: conversationId } = this.#parts;
    const views = client.start(
      {
        conversationId,
        message: {
          id: randomUUID(),
          text: message.text,
          ...(message.context && { context: message.context }),
        },
        ...(this.agent !== undefined && { agentId: this.agent }),
      },
      {
        signal: AbortSignal.any([prompt.overdue.signal, this.#left.signal]),
        onStatus: (status) => this.#connection(status),
      },
    );
    try {
      const { value: view } = await views.next();
      this.hasBegun = true;
      this.#follow();
      // Before its turn had begun, there was nothing to cancel.
      if (prompt.isCancelled) this.#cancelTurn();
      return await this.#rest(this.#turns.named(view?.turnId ?? ''), prompt);
    } catch (error) {
      if (prompt.overdue.signal.aborted || this.#left.signal.aborted) return cancelled;
      // Another surface was faster.
      if (!isBusy(error)) throw error;
      await this.#rest(this.#turns.named(error.turnId), prompt);
      return prompt.isCancelled ? cancelled : await this.#start(message, prompt);
    } finally {
      // Its words come with the feed.
      void views.return();
    }
  }

  /** Until the turn is over, or waits for somebody who cannot be asked in a dialog here. */
  async #rest(turn: Turn, prompt: Prompt): Promise<TurnEnd> {
    while (!turn.end) {
      if (prompt.overdue.signal.aborted) return cancelled;
      if (this.#questions.isStuck && !prompt.isCancelled) return { kind: 'waiting' };
      await this.#turns.change();
    }
    return turn.end;
  }

  #cancelTurn(): void {
    const { client, id } = this.#parts;
    // A conversation that has not begun has nothing to cancel; a service that is away is told when it is back.
    client.cancel(id, { patient: true, signal: this.#gone.signal }).catch(() => undefined);
  }

  #follow(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    void this.#read()
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (!this.#left.signal.aborted) this.#turns.endAll({ kind: 'failed', message });
      })
      .finally(() => {
        this.#isFollowing = false;
      });
  }

  async #read(): Promise<void> {
    const { client, id } = this.#parts;
    const feed = client.events(id, {
      after: this.#position,
      signal: this.#left.signal,
      onStatus: (status) => this.#connection(status),
    });
    for await (const { seq, event } of feed) {
      await this.#tell(event);
      this.#position = seq;
    }
  }

  async #tell(event: StreamEvent): Promise<void> {
    const { editor, id } = this.#parts;
    const updates = this.#translate.toUpdates(event);
    if (Date.parse(event.at) >= this.#mutedUntil)
      for (const update of updates) await editor.update(id, update);
    if (event.type === 'elicitation-request') await this.#questions.see(event, this.#translate.callOf(event));
    const end = this.#turns.hear(event);
    if (!end) return;
    if (end.kind === 'stopped' && end.words !== undefined) await this.#say(end.words);
    if (!this.#prompt) this.#turns.forgetEnded();
    this.#turns.changed();
  }

  async #say(words: string): Promise<void> {
    const update = chunk('agent_message_chunk', `${words}\n\n`, randomUUID());
    await this.#parts.editor.update(this.id, update);
  }

  async #notice(words: string): Promise<void> {
    await this.#parts.editor.notice(this.id, words);
  }

  #connection(status: ConnectionStatus): void {
    const isLost = status === 'reconnecting';
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    if (!this.#prompt && !this.#turns.live) return;
    void this.#notice(
      isLost
        ? 'The service does not answer. Nothing is lost: this goes on as soon as it does.'
        : 'The service answers again.',
    );
  }
}

function isBusy(error: unknown): error is InterludeError & { turnId: string } {
  return error instanceof InterludeError && error.code === 'turn_in_progress' && error.turnId !== undefined;
}
