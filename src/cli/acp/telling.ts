/** What the editor is told of one conversation: all that its feed says, in order, and words of this program in between. */
import { randomUUID } from 'node:crypto';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Client } from '../../client/client.ts';
import type { ConnectionStatus } from '../../client/reconnect.ts';
import type { ElicitationRequest } from '../../contract/elicitation.ts';
import type { StreamEvent } from '../../contract/stream-event.ts';
import type { Editor, SessionState } from './editor.ts';
import type { Turns } from './turns.ts';
import { chunk, createToUpdates } from './updates/to-updates.ts';

/** Where a conversation that was there before stands. */
export interface Standing {
  /** Up to here, the editor knows what turns before the live one have said. */
  position: number;
  liveTurn: string | undefined;
  /** Whether it is told again what the live turn has said up to here. */
  isTold: boolean;
}

interface Parts {
  id: string;
  client: Client;
  editor: Editor;
  turns: Turns;
  /** Whether anybody waits for something to happen here. */
  isWatched: () => boolean;
  /** A question was opened or settled; `toolCallId` is the call as the editor knows it. */
  seeQuestion: (question: ElicitationRequest, toolCallId: string | undefined) => Promise<void>;
}

export class Telling {
  readonly #parts: Parts;
  readonly #left = new AbortController();
  readonly #translate = createToUpdates();
  /** Where the feed goes on. */
  #position = 0;
  #standing: Standing = { position: 0, liveTurn: undefined, isTold: false };
  #isFollowing = false;
  #isLost = false;
  #state = '';

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** Of what came before, only the live turn is read: its questions are open. */
  goOnFrom(standing: Standing): void {
    this.#standing = standing;
    this.#position = standing.liveTurn === undefined ? standing.position : 0;
    this.follow();
  }

  /** From the first time on, until it is left or the service refuses. */
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

  /** Once for each change. */
  async state(state: SessionState): Promise<void> {
    const key = JSON.stringify(state);
    if (key === this.#state) return;
    this.#state = key;
    await this.#parts.editor.tellState(this.#parts.id, state);
  }

  connection(status: ConnectionStatus): void {
    const isLost = status === 'reconnecting';
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    if (!this.#parts.isWatched()) return;
    void this.notice(isLost ? lost : 'The service answers again.');
  }

  async #read(): Promise<void> {
    const { client, id } = this.#parts;
    const feed = client.events(id, {
      after: this.#position,
      signal: this.left,
      onStatus: (status) => this.connection(status),
    });
    for await (const { seq, event } of feed) {
      await this.#tell(seq, event);
      this.#position = seq;
    }
  }

  async #tell(seq: number, event: StreamEvent): Promise<void> {
    const { turns, seeQuestion } = this.#parts;
    const { position, liveTurn, isTold } = this.#standing;
    if (seq <= position && event.turnId !== liveTurn) return;
    const updates = this.#translate.toUpdates(event);
    if (seq > position || isTold) for (const update of updates) await this.update(update);
    if (event.type === 'elicitation-request') await seeQuestion(event, this.#translate.callOf(event));
    const end = turns.hear(event);
    if (!end) return;
    if (end.kind === 'stopped' && end.words !== undefined) await this.say(end.words);
    turns.changed();
  }
}

const lost = 'The service does not answer. Nothing is lost: this goes on as soon as it does.';
