/** Forwards the feed of one conversation to the editor, in order, with this program's own notes in between. */
import { randomUUID } from 'node:crypto';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Client } from '@interlude-ai/client/client.ts';
import type { ConnectionStatus } from '@interlude-ai/client/reconnect.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';
import type { Editor, SessionState } from './editor.ts';
import type { Turns } from './turns.ts';
import { chunk, createUpdates } from './updates.ts';

/** Where an earlier conversation is resumed. */
export interface ResumePoint {
  /** The editor knows everything up to here that came before the live turn. */
  position: number;
  liveTurn: string | undefined;
  /** Whether the live turn is sent again from its start. */
  isReplayed: boolean;
}

interface Parts {
  id: string;
  client: Client;
  editor: Editor;
  turns: Turns;
  /** Whether a prompt or a turn is waited for. */
  isWatched: () => boolean;
  /** A question was opened or settled; `toolCallId` is the call as the editor knows it. */
  seeQuestion: (question: ElicitationRequest, toolCallId: string | undefined) => Promise<void>;
}

export class FeedForwarder {
  readonly #parts: Parts;
  readonly #left = new AbortController();
  readonly #translate = createUpdates();
  /** Where the feed continues. */
  #position = 0;
  #resumePoint: ResumePoint = { position: 0, liveTurn: undefined, isReplayed: false };
  #isFollowing = false;
  #isLost = false;
  #state = '';

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** Of the earlier events only those of the live turn are read: its questions are open. */
  resumeFrom(resumePoint: ResumePoint): void {
    this.#resumePoint = resumePoint;
    this.#position = resumePoint.liveTurn === undefined ? resumePoint.position : 0;
    this.follow();
  }

  /** From the first call on, until it is left or the service refuses. */
  follow(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    void this.#read()
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (!this.left.aborted) this.#parts.turns.endAll({ kind: 'failed', message });
      })
      .finally(() => {
        this.#isFollowing = false;
      });
  }

  leave(): void {
    this.#left.abort();
  }

  async say(words: string): Promise<void> {
    await this.update(chunk('agent_message_chunk', `${words}\n\n`, randomUUID()));
  }

  async notice(words: string): Promise<void> {
    await this.#parts.editor.notice(this.#parts.id, words);
  }

  async update(update: SessionUpdate): Promise<void> {
    await this.#parts.editor.update(this.#parts.id, update);
  }

  /** Only changes are sent. */
  async state(state: SessionState): Promise<void> {
    const key = JSON.stringify(state);
    if (key === this.#state) return;
    this.#state = key;
    await this.#parts.editor.reportState(this.#parts.id, state);
  }

  connection(status: ConnectionStatus): void {
    const isLost = status === 'reconnecting';
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    if (!this.#parts.isWatched()) return;
    void this.notice(isLost ? connectionLost : 'The service answers again.');
  }

  async #read(): Promise<void> {
    const { client, id } = this.#parts;
    const feed = client.events(id, {
      after: this.#position,
      signal: this.left,
      onStatus: (status) => this.connection(status),
    });
    for await (const { seq, event } of feed) {
      await this.#forward(seq, event);
      this.#position = seq;
    }
  }

  async #forward(seq: number, event: StreamEvent): Promise<void> {
    const { turns, seeQuestion } = this.#parts;
    const { position, liveTurn, isReplayed } = this.#resumePoint;
    if (seq <= position && event.turnId !== liveTurn) return;
    const updates = this.#translate.toUpdates(event);
    if (seq > position || isReplayed) for (const update of updates) await this.update(update);
    if (event.type === 'elicitation-request') await seeQuestion(event, this.#translate.callOf(event));
    const end = turns.named(event.turnId).read(event);
    if (!end) return;
    if (end.kind === 'stopped' && end.words !== undefined) await this.say(end.words);
    turns.changed();
  }
}

const connectionLost = 'The service does not answer. Nothing is lost: this goes on as soon as it does.';
