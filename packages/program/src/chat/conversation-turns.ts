/** The turns of a conversation on the screen: the live one, and the one that replaces it. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@interlude-ai/client/client.ts';
import type { FollowOptions } from '@interlude-ai/client/follow.ts';
import { InterludeError } from '@interlude-ai/client/interlude-error.ts';
import type { TurnView } from '@interlude-ai/client/turn-view.ts';
import type { ConversationMessages } from '@interlude-ai/core/contract/conversations.ts';
import type { Decide } from '@interlude-ai/kit/answers/answer-from.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { Answering } from './answering.ts';
import type { FormDrafts } from './form-drafts.ts';
import type { Screen } from './screen.ts';
import { TurnPrinter } from './turn-printer.ts';
import { dim, plain } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { promptLabel, trouble } from './wording.ts';

export interface TurnParts {
  client: Client;
  conversationId: string;
  agentId: string | undefined;
  who: string;
  drafts: FormDrafts;
  /** A person gets a notice when it is too early for a line; lines of a pipe wait. */
  isInteractive: boolean;
  /** Answers what it can instead of the person. */
  decide?: Decide | undefined;
}

/** For the last output of a turn that was replaced. */
const lastWordsMs = 1_000;

export class ConversationTurns {
  current: LiveTurn | undefined;
  /** Every turn succeeded so far. */
  isFine = true;
  readonly #parts: TurnParts;
  readonly #screen: Screen;
  readonly #onChange: () => void;
  #hasLeft = false;
  #knowsForms = false;
  /** The last error since the last message: two requests may fail for the same reason. */
  #lastTrouble = '';

  /** `onChange`: lines that had to wait may be possible now. */
  constructor(parts: TurnParts, screen: Screen, onChange: () => void) {
    this.#parts = parts;
    this.#screen = screen;
    this.#onChange = onChange;
  }

  /** A turn that only waits for an answer makes room for the next message; a working one does not. */
  isAtWork(): boolean {
    const { current } = this;
    return (
      current !== undefined && (current.successor !== undefined || current.answering.asked() === undefined)
    );
  }

  send(text: string): void {
    this.#lastTrouble = '';
    const { client, conversationId, agentId } = this.#parts;
    const message = { id: randomUUID(), text };
    const agent = agentId === undefined ? {} : { agentId };
    const open: Open = (options) => client.start({ conversationId, message, ...agent }, options);
    void (this.current ? this.#supersede(this.current, open) : this.#follow(this.#begin(open)));
  }

  /** Shows the earlier messages, and the live turn. */
  async resume(): Promise<void> {
    const { client, conversationId, isInteractive, who } = this.#parts;
    const live = this.#begin((options) => client.follow(conversationId, options));
    this.current = live;
    if (isInteractive) {
      await client.conversation(conversationId).then(
        (said) => showHistory(said, who, this.#screen),
        // A conversation that does not exist yet begins with the first message.
        (error: unknown) => isProblem(error, 'conversation_not_found') || this.#sayTrouble(error),
      );
    }
    await this.#follow(live);
  }

  stop(live: LiveTurn): void {
    const { client, conversationId } = this.#parts;
    live.isStopping = true;
    this.prompt();
    client.cancel(conversationId).catch((error: unknown) => {
      live.isStopping = false;
      this.#sayTrouble(error);
    });
  }

  /** Stops following; the turns go on. */
  leave(): void {
    this.#hasLeft = true;
    this.current?.leave();
    this.current?.successor?.leave();
  }

  prompt(): void {
    this.#screen.prompt(() => bottomLine(this.current, this.#parts.who));
  }

  #begin(open: Open): LiveTurn {
    const { client, conversationId, drafts, isInteractive, decide } = this.#parts;
    const screen = this.#screen;
    const printer = new TurnPrinter(screen);
    const answering = new Answering({
      printer,
      screen,
      isInteractive,
      drafts,
      knowsForms: () => {
        const before = this.#knowsForms;
        this.#knowsForms = true;
        return before;
      },
      send: (elicitationId, response) => client.answer({ conversationId, elicitationId, ...response }),
      sayTrouble: (error) => this.#sayTrouble(error),
      reopened: () => this.#changed(),
      decide,
    });
    const live: LiveTurn = new LiveTurn(open, printer, answering, () => this.#show(live));
    return live;
  }

  #show(live: LiveTurn): void {
    const isCurrent = this.current === live;
    // A person sees a lost connection in the bottom line.
    if (live.isLost && this.#parts.isInteractive) this.#screen.endText();
    else if (live.isLost && isCurrent) this.#screen.note('Connection lost; reconnecting …');
    if (isCurrent && !live.successor) live.answering.present();
    this.#changed();
  }

  async #follow(live: LiveTurn): Promise<void> {
    this.current = live;
    this.prompt();
    try {
      if (!(await live.print())) this.isFine = false;
    } catch (error) {
      if (live.hasLeft()) return;
      this.isFine = false;
      this.#sayTrouble(error);
    }
    if (this.current !== live) return;
    this.current = live.successor;
    this.#screen.gap();
    this.#changed();
  }

  /** The service ends the waiting turn and begins the next one. */
  async #supersede(before: LiveTurn, open: Open): Promise<void> {
    const next = this.#begin(open);
    before.successor = next;
    before.printer.setSuperseded(true);
    this.prompt();
    try {
      await next.begun;
    } catch (error) {
      if (this.#hasLeft) return;
      before.successor = undefined;
      before.printer.setSuperseded(false);
      if (this.current === next) this.current = undefined;
      this.#sayTrouble(error);
      return this.prompt();
    }
    await withTimeout(before.over, lastWordsMs, undefined);
    before.leave();
    this.#screen.gap();
    await this.#follow(next);
  }

  #changed(): void {
    this.prompt();
    this.#onChange();
  }

  #sayTrouble(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    if (text === this.#lastTrouble) return;
    this.#lastTrouble = text;
    this.#screen.line(trouble(text));
    if (!(error instanceof InterludeError)) return;
    // The message may contain one of them.
    for (const { pointer, detail } of error.errors)
      if (!text.includes(detail)) this.#screen.line(dim(`    ${pointer} ${detail}`));
  }
}

function bottomLine(turn: LiveTurn | undefined, who: string): string {
  if (!turn) return promptLabel(who);
  const isInForm = turn.answering.asked() === 'form';
  if (turn.isLost && isInForm) return `${dim('connection lost ·')} ${turn.answering.prompt()}`;
  if (turn.isLost) return dim('connection lost; reconnecting … ');
  if (turn.isStopping) return dim('stopping … ');
  if (turn.successor) return dim('… ');
  return turn.answering.prompt() ?? dim(`${turn.printer.doing()} `);
}

function isProblem(error: unknown, code: string): boolean {
  return error instanceof InterludeError && error.code === code;
}

function showHistory({ messages }: ConversationMessages, who: string, screen: Screen): void {
  if (messages.next !== null) screen.line(dim('  What was said before that is not shown.'));
  for (const { role, parts } of messages.items) {
    const text = parts.flatMap(textOf).join('\n\n').trim();
    if (text === '') continue;
    screen.gap();
    if (role === 'user') screen.line(`${promptLabel(who)}${plain(text)}`);
    else screen.text(text);
    screen.gap();
  }
}

function textOf(part: ConversationMessages['messages']['items'][number]['parts'][number]): string[] {
  const { type, text } = part;
  return type === 'text' && typeof text === 'string' ? [text] : [];
}

type Open = (options: FollowOptions) => AsyncGenerator<TurnView, void>;

export class LiveTurn {
  readonly printer: TurnPrinter;
  readonly answering: Answering;
  isLost = false;
  /** The service has taken the message. */
  hasBegun = false;
  isStopping = false;
  successor: LiveTurn | undefined;
  /** Resolves with the first view; rejects when the service refuses to start or stream the turn. */
  readonly begun: Promise<IteratorResult<TurnView, void>>;
  readonly #views: AsyncGenerator<TurnView, void>;
  readonly #changed: () => void;
  readonly #reading = new AbortController();
  readonly #over = Promise.withResolvers<void>();

  /** `changed` is called after every new view and every change of the connection. */
  constructor(open: Open, printer: TurnPrinter, answering: Answering, changed: () => void) {
    this.printer = printer;
    this.answering = answering;
    this.#changed = changed;
    this.#views = open({
      signal: this.#reading.signal,
      operations: true,
      onStatus: (status) => {
        this.isLost = status === 'reconnecting';
        changed();
      },
    });
    this.begun = this.#views.next();
    this.begun.catch(() => undefined);
  }

  /** Resolves when `print` ends, also by an error. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Prints all views. Resolves with false if the turn failed; rejects when the stream fails. Call it once. */
  async print(): Promise<boolean> {
    let isFine = true;
    try {
      for (let next = await this.begun; !next.done; next = await this.#views.next()) {
        this.hasBegun = true;
        this.printer.print(next.value);
        if (next.value.status === 'failed') isFine = false;
        this.#changed();
      }
      return isFine;
    } finally {
      this.#over.resolve();
    }
  }

  /** Stops reading; the turn goes on. */
  leave(): void {
    this.#reading.abort();
  }

  hasLeft(): boolean {
    return this.#reading.signal.aborted;
  }
}
