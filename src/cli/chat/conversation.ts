/** One conversation in the terminal: what people type goes to the service, what the turns tell goes on the screen. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import { InterludeError } from '../../client/interlude-error.ts';
import { createAnswering } from './answering.ts';
import { readEntry } from './entry.ts';
import type { Entry } from './entry.ts';
import type { FormDrafts } from './form-drafts.ts';
import { beginTurn } from './live-turn.ts';
import type { LiveTurn, Open } from './live-turn.ts';
import { createNarrator } from './narrator.ts';
import { retell } from './retell.ts';
import type { Keyboard, Screen } from './screen.ts';
import { dim, help, promptLabel, trouble } from './wording.ts';

interface Parts {
  client: Client;
  conversationId: string;
  agentId: string | undefined;
  who: string;
  drafts: FormDrafts;
  /** What to type to come back to this conversation. */
  comeBack: string;
  /** A person can be told that it is not the moment; a pipe's lines wait for theirs. */
  isInteractive: boolean;
  openScreen: (keyboard: Keyboard) => Screen;
}

/** For the last words of a turn whose place has been taken. */
const lastWordsMs = 1_000;

/** Resolves when people leave: true when every turn went well, or goes on without them. */
export function converse(parts: Parts & { resume: boolean }): Promise<boolean> {
  const { client, conversationId, agentId, who, drafts, isInteractive } = parts;
  const { promise: over, resolve: leave } = Promise.withResolvers<boolean>();
  const lines: string[] = [];
  let turn: LiveTurn | undefined;
  let hasEnded = false;
  let hasSpoken = false;
  let hasLeft = false;
  let isInterrupted = false;
  let isFine = true;
  let knowsForms = false;

  const screen = parts.openScreen({ line: enter, interrupt, end });
  if (isInteractive) {
    screen.note(dim('\n  /help lists the commands; Ctrl+C twice leaves.'));
    screen.note(dim(`  Come back to this conversation with: ${parts.comeBack}`));
  }
  screen.gap();
  screen.prompt(bottomLine);
  if (parts.resume) void resume();
  return over;

  function enter(line: string): void {
    isInterrupted = false;
    lines.push(line);
    work();
  }

  function end(): void {
    hasEnded = true;
    if (isInteractive) quit();
    else work();
  }

  function work(): void {
    for (let line = lines[0]; line !== undefined; line = lines[0]) {
      const entry = readEntry(line, turn?.answering.asked());
      if (!isInteractive && turn && hasToWait(entry, turn)) return;
      lines.shift();
      act(entry);
    }
    if (hasEnded && !turn) quit();
  }

  function act(entry: Entry): void {
    switch (entry.kind) {
      case 'nothing':
        return;
      case 'message':
        return send(entry.text);
      case 'answer':
        if (turn) turn.answering.answer({ action: entry.action });
        else screen.line(dim('  No question is open.'));
        return screen.prompt(bottomLine);
      case 'field':
        turn?.answering.enter(entry.line);
        return screen.prompt(bottomLine);
      case 'stop':
        return turn ? stop(turn) : screen.line(dim('  Nothing is going on.'));
      case 'quit':
        return quit();
      case 'help':
        return help.forEach((line) => screen.line(line));
      case 'unknown':
        return screen.line(dim(`  There is no ${entry.command}; /help lists what there is.`));
      default:
        return entry satisfies never;
    }
  }

  function send(text: string): void {
    const isAtWork = turn && (turn.successor !== undefined || turn.answering.asked() === undefined);
    if (isAtWork)
      return screen.line(dim('  The agent is still at work. /stop stops it; then send that again.'));
    hasSpoken = true;
    const message = { id: randomUUID(), text };
    const agent = agentId === undefined ? {} : { agentId };
    const open: Open = (options) => client.start({ conversationId, message, ...agent }, options);
    void (turn ? supersede(turn, open) : follow(begin(open)));
  }

  function reopened(): void {
    screen.prompt(bottomLine);
    work();
  }

  async function resume(): Promise<void> {
    const live = begin((options) => client.follow(conversationId, options));
    turn = live;
    if (isInteractive) {
      await client.conversation(conversationId).then(
        (said) => retell(said, who, screen),
        // One that does not exist yet begins with the first message.
        (error: unknown) => isProblem(error, 'conversation_not_found') || sayTrouble(error),
      );
    }
    await follow(live);
  }

  function begin(open: Open): LiveTurn {
    const narrator = createNarrator(screen);
    const answering = createAnswering({
      narrator,
      screen,
      isInteractive,
      drafts,
      knowsForms() {
        const before = knowsForms;
        knowsForms = true;
        return before;
      },
      send: (elicitationId, response) => client.answer({ conversationId, elicitationId, ...response }),
      sayTrouble,
      reopened,
    });
    const live = beginTurn(open, { narrator, answering }, () => {
      // A person sees a lost connection in the bottom line for as long as it lasts.
      if (isInteractive && live.isLost) screen.endText();
      else if (live.isLost && turn === live) screen.note('Connection lost; reconnecting …');
      if (turn === live && !live.successor) answering.present();
      screen.prompt(bottomLine);
      work();
    });
    return live;
  }

  async function follow(live: LiveTurn): Promise<void> {
    turn = live;
    screen.prompt(bottomLine);
    try {
      if (!(await live.tell())) isFine = false;
    } catch (error) {
      if (live.hasLeft()) return;
      isFine = false;
      sayTrouble(error);
    }
    if (turn !== live) return;
    turn = live.successor;
    isInterrupted = false;
    screen.gap();
    screen.prompt(bottomLine);
    work();
  }

  /** The service ends the turn that waits, and begins the next one. */
  async function supersede(before: LiveTurn, open: Open): Promise<void> {
    const next = begin(open);
    before.successor = next;
    before.narrator.setSuperseded(true);
    screen.prompt(bottomLine);
    try {
      await next.begun;
    } catch (error) {
      if (hasLeft) return;
      before.successor = undefined;
      before.narrator.setSuperseded(false);
      if (turn === next) turn = undefined;
      sayTrouble(error);
      return screen.prompt(bottomLine);
    }
    await Promise.race([before.over, delay(lastWordsMs)]);
    before.leave();
    screen.gap();
    await follow(next);
  }

  function stop(live: LiveTurn): void {
    live.isStopping = true;
    screen.prompt(bottomLine);
    client.cancel(conversationId).catch((error: unknown) => {
      live.isStopping = false;
      sayTrouble(error);
    });
  }

  function interrupt(): void {
    if (isInterrupted) return quit();
    isInterrupted = true;
    if (turn) stop(turn);
    else screen.note(dim('  Ctrl+C again leaves.'));
  }

  function quit(): void {
    if (hasLeft) return;
    hasLeft = true;
    turn?.leave();
    turn?.successor?.leave();
    const goesOn = turn ? 'The turn goes on without you. ' : '';
    if (turn || (isInteractive && hasSpoken)) {
      screen.note(dim(`  ${goesOn}Come back with: ${parts.comeBack}`));
    }
    screen.close();
    leave(isFine);
  }

  function sayTrouble(error: unknown): void {
    screen.line(trouble(error instanceof Error ? error.message : String(error)));
    if (!(error instanceof InterludeError)) return;
    for (const { pointer, detail } of error.errors) screen.line(dim(`    ${pointer} ${detail}`));
  }

  function bottomLine(): string {
    if (!turn) return promptLabel(who);
    const isInForm = turn.answering.asked() === 'form';
    if (turn.isLost && isInForm) return `${dim('connection lost ·')} ${turn.answering.prompt()}`;
    if (turn.isLost) return dim('connection lost; reconnecting … ');
    if (turn.isStopping) return dim('stopping … ');
    if (turn.successor) return dim('… ');
    return turn.answering.prompt() ?? dim(`${turn.narrator.doing()} `);
  }
}

/** Whose moment comes when the turn asks, or is over. */
function hasToWait(entry: Entry, { answering }: LiveTurn): boolean {
  const isForQuestion = ['answer', 'nothing', 'unknown'].includes(entry.kind);
  return entry.kind === 'message' || (isForQuestion && answering.asked() === undefined);
}

function isProblem(error: unknown, code: string): boolean {
  return error instanceof InterludeError && error.code === code;
}
