/** One conversation in the terminal: what people type goes to the service, what the turns tell goes on the screen. */
import { randomUUID } from 'node:crypto';
import type { Client } from '../../src/client/client.ts';
import type { FollowOptions } from '../../src/client/follow-turn.ts';
import { InterludeError } from '../../src/client/interlude-error.ts';
import type { TurnView } from '../../src/client/turn-view.ts';
import type { Action } from '../../src/elicitation/elicitation.ts';
import { readEntry } from './entry.ts';
import type { Entry } from './entry.ts';
import { createNarrator } from './narrator.ts';
import type { Narrator } from './narrator.ts';
import type { Keyboard, Screen } from './screen.ts';
import { dim, help, promptLabel, timeLeft, toolStarted, trouble } from './wording.ts';

interface Parts {
  client: Client;
  conversationId: string;
  agentId: string | undefined;
  who: string;
  /** A person can be told that it is not the moment; a pipe's lines wait for theirs. */
  isInteractive: boolean;
  openScreen: (keyboard: Keyboard) => Screen;
}

interface LiveTurn {
  narrator: Narrator;
  reading: AbortController;
  isLost: boolean;
  isStopping: boolean;
}

type Open = (options: FollowOptions) => AsyncGenerator<TurnView, void>;

/** Resolves when people leave: true when every turn went well, or goes on without them. */
export function converse(parts: Parts & { resume: boolean }): Promise<boolean> {
  const { client, conversationId, agentId, who, isInteractive } = parts;
  const { promise: over, resolve: leave } = Promise.withResolvers<boolean>();
  const lines: string[] = [];
  let turn: LiveTurn | undefined;
  let hasEnded = false;
  let hasSpoken = false;
  let hasLeft = false;
  let isInterrupted = false;
  let isFine = true;

  const screen = parts.openScreen({ line: enter, interrupt, end });
  if (isInteractive) screen.note(dim('\n  /help lists the commands; Ctrl+C twice leaves.'));
  screen.gap();
  screen.prompt(bottomLine);
  if (parts.resume) void follow((options) => client.follow(conversationId, options));
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
      const entry = readEntry(line, turn?.narrator.openQuestion() !== undefined);
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
        return turn ? explain(turn) : send(entry.text);
      case 'answer':
        return answer(entry.action);
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
    hasSpoken = true;
    const message = { id: randomUUID(), text };
    const agent = agentId === undefined ? {} : { agentId };
    void follow((options) => client.start({ conversationId, message, ...agent }, options));
  }

  async function follow(open: Open): Promise<void> {
    const live: LiveTurn = {
      narrator: createNarrator(screen),
      reading: new AbortController(),
      isLost: false,
      isStopping: false,
    };
    turn = live;
    screen.prompt(bottomLine);
    try {
      for await (const view of open({ signal: live.reading.signal, onStatus: setStatus })) {
        live.narrator.tell(view);
        if (view.status === 'failed') isFine = false;
        screen.prompt(bottomLine);
        work();
      }
    } catch (error) {
      if (live.reading.signal.aborted) return;
      isFine = false;
      sayTrouble(error);
    }
    turn = undefined;
    isInterrupted = false;
    screen.gap();
    screen.prompt(bottomLine);
    work();

    function setStatus(status: 'reconnecting' | 'connected'): void {
      live.isLost = status === 'reconnecting';
      // A person sees it in the bottom line for as long as it lasts.
      if (isInteractive) screen.endText();
      else if (live.isLost) screen.note('Connection lost; reconnecting …');
      screen.prompt(bottomLine);
    }
  }

  function answer(action: Exclude<Action, 'accept'>): void {
    const narrator = turn?.narrator;
    const question = narrator?.openQuestion();
    if (!narrator || !question) return screen.line(dim('  No question is open.'));
    const { elicitationId } = question;
    narrator.setAnswered(elicitationId, true);
    screen.prompt(bottomLine);
    client.answer({ conversationId, elicitationId, action }).catch((error: unknown) => {
      narrator.setAnswered(elicitationId, false);
      sayTrouble(error);
      screen.prompt(bottomLine);
    });
  }

  function stop(live: LiveTurn): void {
    live.isStopping = true;
    screen.prompt(bottomLine);
    client.cancel(conversationId).catch((error: unknown) => {
      live.isStopping = false;
      sayTrouble(error);
    });
  }

  function explain({ narrator }: LiveTurn): void {
    const question = narrator.openQuestion();
    screen.line(
      dim(
        question
          ? '  The agent waits for an answer: open the link, or type n or c. /stop ends the turn.'
          : '  The agent is still at work. /stop stops it; then send that again.',
      ),
    );
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
    turn?.reading.abort();
    const goesOn = turn ? 'The turn goes on without you. ' : '';
    if (turn || (isInteractive && hasSpoken)) {
      screen.note(dim(`  ${goesOn}Come back with: --conversation ${conversationId}`));
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
    if (turn.isLost) return dim('connection lost; reconnecting … ');
    if (turn.isStopping) return dim('stopping … ');
    const question = turn.narrator.openQuestion();
    if (question)
      return promptLabel(`${question.context.serverTitle} · ${timeLeft(question.expiresAt, Date.now())}`);
    const toolName = turn.narrator.runningTool();
    return toolName === undefined ? dim('… ') : `${toolStarted(toolName)} `;
  }
}

function hasToWait(entry: Entry, { narrator }: LiveTurn): boolean {
  return entry.kind === 'message' || (entry.kind === 'answer' && narrator.openQuestion() === undefined);
}
