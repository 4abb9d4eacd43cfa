/**
 * One session of an editor: a conversation, followed from the first prompt on, including turns of other surfaces. A prompt is
 * answered when its turn ends, or when the turn waits for a person who cannot be asked in a dialog here.
 */
import type { Client } from '@interlude-ai/client/client.ts';
import { InterludeError } from '@interlude-ai/client/interlude-error.ts';
import { answerInWords } from '@interlude-ai/core/elicitation/answer-in-words.ts';
import type { ElicitationRequest as Question } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Editor, SessionState } from './editor.ts';
import { FeedForwarder } from './feed-forwarder.ts';
import type { ResumePoint } from './feed-forwarder.ts';
import { OpenQuestions } from './open-questions.ts';
import type { PromptMessage } from './prompt-message.ts';
import { Turns } from './turns.ts';
import type { Turn, TurnEnd } from './turns.ts';

interface SessionParts {
  id: string;
  /** The folder that the editor opened it for. */
  cwd: string;
  client: Client;
  editor: Editor;
  /** Its address, without a trailing slash. */
  service: string;
}

export type Message = Extract<PromptMessage, { kind: 'message' }> & { id: string };

interface Prompt {
  message: Message;
  isCancelled: boolean;
  /** Aborts when the service has not confirmed the cancellation in time. */
  overdue: AbortController;
  accepted: () => void;
}

/** The editor is not kept waiting while the service cannot be reached. */
const cancelTimeoutMs = 10_000;
/** For a cancel that was sent just before the connection closed. */
const lastWordsMs = 5_000;
const cancelled: TurnEnd = { kind: 'stopped', stopReason: 'cancelled' };

export class Session {
  /** Undefined is the service's first agent. Fixed once the conversation has begun. */
  agent: string | undefined;
  hasBegun = false;
  readonly #parts: SessionParts;
  readonly #turns = new Turns();
  readonly #questions: OpenQuestions;
  readonly #forwarder: FeedForwarder;
  readonly #gone = new AbortController();
  #prompt: Prompt | undefined;

  constructor(parts: SessionParts, agent: string | undefined) {
    const { id, client, editor, service } = parts;
    this.agent = agent;
    this.#parts = parts;
    const turns = this.#turns;
    this.#questions = new OpenQuestions({
      client,
      editor,
      service,
      conversationId: id,
      say: (words) => this.#forwarder.say(words),
      isPrompting: () => this.#prompt?.isCancelled === false,
      changed: () => this.#changed(),
    });
    this.#forwarder = new FeedForwarder({
      id,
      client,
      editor,
      turns,
      isWatched: () => this.isBusy,
      seeQuestion: async (question, toolCallId) => {
        await this.#questions.see(question, toolCallId);
        this.#changed();
      },
    });
  }

  get id(): string {
    return this.#parts.id;
  }

  get cwd(): string {
    return this.#parts.cwd;
  }

  get isPrompting(): boolean {
    return this.#prompt !== undefined;
  }

  /** Also while a question is open: its turn is live. */
  get isBusy(): boolean {
    return this.isPrompting || this.#turns.live !== undefined;
  }

  /** Resumes an earlier conversation. */
  join(agent: string, resumePoint: ResumePoint): void {
    this.agent = agent;
    this.hasBegun = true;
    if (resumePoint.liveTurn !== undefined) this.#turns.named(resumePoint.liveTurn);
    this.#forwarder.resumeFrom(resumePoint);
  }

  get state(): SessionState {
    if (this.#questions.isAnyOpen) return { kind: 'requires-action' };
    return { kind: this.isBusy ? 'running' : 'idle' };
  }

  /** Resolves when the prompt ends. One at a time. */
  async prompt(message: Message, accepted: () => void = () => undefined): Promise<TurnEnd> {
    const prompt: Prompt = { message, isCancelled: false, overdue: new AbortController(), accepted };
    this.#prompt = prompt;
    try {
      const earlier = this.#turns.live;
      const ofEarlier = earlier && (await this.#finish(earlier, prompt));
      return await this.#ended(ofEarlier ?? (await this.#start(prompt)));
    } finally {
      this.#prompt = undefined;
      this.#turns.forgetEnded();
    }
  }

  /** Cancels the turn of the prompt, and closes its dialogs. */
  cancel(): void {
    const prompt = this.#prompt;
    if (!prompt || prompt.isCancelled) return;
    prompt.isCancelled = true;
    this.#questions.withdraw();
    setTimeout(() => {
      prompt.overdue.abort();
      this.#turns.changed();
    }, cancelTimeoutMs).unref();
    this.#cancelTurn();
    this.#turns.changed();
  }

  /** Cancels the prompt and stops following. */
  close(): void {
    this.cancel();
    this.leave();
  }

  /** Stops following. Requests to the service go on. */
  leave(): void {
    this.#forwarder.leave();
    this.#questions.withdraw();
    setTimeout(() => this.#gone.abort(), lastWordsMs).unref();
    this.#turns.changed();
  }

  /** An earlier turn is still live. Null when this prompt starts one after it. */
  async #finish(earlier: Turn, prompt: Prompt): Promise<TurnEnd | null> {
    const question = this.#questions.inWords;
    if (question) {
      prompt.accepted();
      const read = prompt.message.images
        ? ({ kind: 'misfit', reasons: 'An image is no answer.' } as const)
        : answerInWords(prompt.message, question as Question);
      const answered = read.kind === 'misfit' ? read : await this.#questions.answer(question, read.response);
      if (answered.kind === 'answered') return this.#rest(earlier, prompt);
      await this.#forwarder.say(
        `That does not fit:\n${answered.reasons}\n\nPlease answer again, or “no” to decline.`,
      );
      return { kind: 'waiting' };
    }
    if (!this.#questions.isAnyOpen)
      await this.#forwarder.notice('An earlier message is still being worked on; this one comes after it.');
    this.#questions.askAgain();
    const end = await this.#rest(earlier, prompt);
    // A question that still cannot be asked here makes room, as on every surface.
    return prompt.isCancelled ? end : null;
  }

  async #start(prompt: Prompt): Promise<TurnEnd> {
    const { client, id: conversationId } = this.#parts;
    const { id, text, images, context } = prompt.message;
    const views = client.start(
      {
        conversationId,
        message: { id, text, ...(images && { images }), ...(context !== undefined && { context }) },
        ...(this.agent !== undefined && { agentId: this.agent }),
      },
      {
        signal: AbortSignal.any([prompt.overdue.signal, this.#forwarder.left]),
        onStatus: (status) => this.#forwarder.connection(status),
      },
    );
    try {
      const { value: view } = await views.next();
      this.hasBegun = true;
      prompt.accepted();
      this.#forwarder.follow();
      // Before the turn began, there was nothing to cancel.
      if (prompt.isCancelled) this.#cancelTurn();
      return await this.#rest(this.#turns.named(view?.turnId ?? ''), prompt);
    } catch (error) {
      if (prompt.overdue.signal.aborted || this.#forwarder.left.aborted) return cancelled;
      // Another surface was faster.
      if (!isBusy(error)) throw error;
      await this.#rest(this.#turns.named(error.turnId), prompt);
      return prompt.isCancelled ? cancelled : await this.#start(prompt);
    } finally {
      // Its text comes with the feed.
      void views.return();
    }
  }

  /** Waits until the turn is over, or waits for a person who cannot be asked in a dialog here. */
  async #rest(turn: Turn, prompt: Prompt): Promise<TurnEnd> {
    while (!turn.end) {
      if (prompt.overdue.signal.aborted || this.#forwarder.left.aborted) return cancelled;
      if (this.#questions.isStuck && !prompt.isCancelled) return { kind: 'waiting' };
      this.#reportState();
      await this.#turns.change();
    }
    return turn.end;
  }

  #changed(): void {
    this.#reportState();
    this.#turns.changed();
  }

  #reportState(): void {
    if (this.isBusy) void this.#forwarder.state(this.state);
  }

  async #ended(end: TurnEnd): Promise<TurnEnd> {
    if (end.kind === 'stopped') await this.#forwarder.state({ kind: 'idle', stopReason: end.stopReason });
    if (end.kind === 'failed') await this.#forwarder.state(end);
    return end;
  }

  #cancelTurn(): void {
    const { client, id } = this.#parts;
    // A conversation that has not begun has nothing to cancel. An unreachable service gets the cancel later.
    client.cancel(id, { retryForever: true, signal: this.#gone.signal }).catch(() => undefined);
  }
}

function isBusy(error: unknown): error is InterludeError & { turnId: string } {
  return error instanceof InterludeError && error.code === 'turn_in_progress' && error.turnId !== undefined;
}
