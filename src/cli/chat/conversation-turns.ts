/** The turns of a conversation, told on the screen: the one that is going on, and the one that takes its place. */
import { randomUUID } from 'node:crypto';
import type { Client } from '../../client/client.ts';
import { InterludeError } from '../../client/interlude-error.ts';
import type { Decide } from '../../testing/answers/answer-from.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import { Answering } from './answering.ts';
import type { FormDrafts } from './form-drafts.ts';
import { beginTurn } from './live-turn.ts';
import type { LiveTurn, Open } from './live-turn.ts';
import { TurnPrinter } from './turn-printer.ts';
import { showHistory } from './show-history.ts';
import type { Screen } from './screen.ts';
import { dim, promptLabel, trouble } from './wording.ts';

export interface TurnParts {
  client: Client;
  conversationId: string;
  agentId: string | undefined;
  who: string;
  drafts: FormDrafts;
  /** A person can be told that it is not the moment; a pipe's lines wait for theirs. */
  isInteractive: boolean;
  /** Answers what it can in the person's place. */
  decide?: Decide | undefined;
}

/** For the last words of a turn whose place has been taken. */
const lastWordsMs = 1_000;

export class ConversationTurns {
  current: LiveTurn | undefined;
  /** Every turn went well so far. */
  isFine = true;
  readonly #parts: TurnParts;
  readonly #screen: Screen;
  readonly #onChange: () => void;
  #hasLeft = false;
  #knowsForms = false;
  /** What went wrong last, since the last message: two requests may fail for one reason. */
  #lastTrouble = '';

  /** `onChange`: something may be typed now that could not be before. */
  constructor(parts: TurnParts, screen: Screen, onChange: () => void) {
    this.#parts = parts;
    this.#screen = screen;
    this.#onChange = onChange;
  }

  /** A turn that only waits for an answer makes room for the next message; one that works does not. */
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

  /** Tells what was said before, and the turn that is going on. */
  async resume(): Promise<void> {
    const { client, conversationId, isInteractive, who } = this.#parts;
    const live = this.#begin((options) => client.follow(conversationId, options));
    this.current = live;
    if (isInteractive) {
      await client.conversation(conversationId).then(
        (said) => showHistory(said, who, this.#screen),
        // One that does not exist yet begins with the first message.
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

  /** Stops telling; the turns go on. */
  leave(): void {
    this.#hasLeft = true;
    this.current?.leave();
    this.current?.successor?.leave();
  }

  /** Draws the bottom line. */
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
    const live = beginTurn(open, { printer, answering }, () => this.#tell(live));
    return live;
  }

  /** Shows what is new of a turn. */
  #tell(live: LiveTurn): void {
    const isCurrent = this.current === live;
    // A person sees a lost connection in the bottom line for as long as it lasts.
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

  /** The service ends the turn that waits, and begins the next one. */
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
    // The message may be about one of them.
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
