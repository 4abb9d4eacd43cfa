/** One conversation in the terminal: typed lines go to the service, its turns go to the screen. */
import { ConversationTurns } from './conversation-turns.ts';
import type { LiveTurn, TurnParts } from './conversation-turns.ts';
import type { Keyboard, Screen } from './screen.ts';
import { dim } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { help, shortTime } from './wording.ts';
import type { ApprovalDetails } from '@interlude-ai/core/elicitation/approval.ts';
import type { Action, Remember } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Asking } from './question-card.ts';

interface Parts extends TurnParts {
  /** The command that resumes this conversation. */
  resumeCommand: string;
  /** A turn may be live already. */
  resume: boolean;
  openScreen: (keyboard: Keyboard) => Screen;
}

/** Resolves when the person leaves: true when every turn succeeded, or goes on without them. */
export function converse(parts: Parts): Promise<boolean> {
  const { promise: over, resolve: leave } = Promise.withResolvers<boolean>();
  new Conversation(parts, leave).begin();
  return over;
}

class Conversation {
  readonly #parts: Parts;
  readonly #leave: (isFine: boolean) => void;
  readonly #screen: Screen;
  readonly #turns: ConversationTurns;
  /** Typed lines that still wait. */
  readonly #lines: string[] = [];
  #hasEnded = false;
  #hasSpoken = false;
  #hasLeft = false;

  constructor(parts: Parts, leave: (isFine: boolean) => void) {
    this.#parts = parts;
    this.#leave = leave;
    this.#screen = parts.openScreen({
      line: (line) => this.#enter(line),
      interrupt: () => this.#quit(),
      end: () => this.#end(),
    });
    this.#turns = new ConversationTurns(parts, this.#screen, () => this.#work());
  }

  begin(): void {
    const { isInteractive, resumeCommand, resume } = this.#parts;
    if (isInteractive) {
      this.#screen.note(dim('\n  /help lists the commands; Ctrl+C leaves.'));
      this.#screen.note(dim(`  Come back to this conversation with: ${resumeCommand}`));
    }
    this.#screen.gap();
    this.#turns.prompt();
    if (resume) void this.#turns.resume();
  }

  #enter(line: string): void {
    this.#lines.push(line);
    this.#work();
  }

  #end(): void {
    this.#hasEnded = true;
    if (this.#parts.isInteractive) this.#quit();
    else this.#work();
  }

  /** Handles the typed lines, as far as they need not wait. */
  #work(): void {
    for (let line = this.#lines[0]; line !== undefined; line = this.#lines[0]) {
      const turn = this.#turns.current;
      const input = readInput(line, turn?.answering.asked());
      if (!this.#parts.isInteractive && turn && hasToWait(input, turn)) return;
      this.#lines.shift();
      this.#act(input);
    }
    if (this.#hasEnded && !this.#turns.current) this.#quit();
  }

  #act(input: Input): void {
    const turn = this.#turns.current;
    switch (input.kind) {
      case 'nothing':
        return;
      case 'message':
        return this.#send(input.text);
      case 'answer':
        if (turn) turn.answering.answer({ action: input.action, ...input.details });
        else this.#screen.line(dim('  No question is open.'));
        return this.#turns.prompt();
      case 'field':
        turn?.answering.enter(input.line);
        return this.#turns.prompt();
      case 'stop':
        return turn ? this.#turns.stop(turn) : this.#screen.line(dim('  Nothing is going on.'));
      case 'quit':
        return this.#quit();
      case 'help':
        return help.forEach((line) => this.#screen.line(line));
      case 'unknown':
        return this.#screen.line(dim(`  There is no ${input.command}; /help lists what there is.`));
      default:
        return input satisfies never;
    }
  }

  #send(text: string): void {
    if (this.#turns.isAtWork())
      return this.#screen.line(dim('  The agent is still at work. /stop stops it; then send that again.'));
    this.#hasSpoken = true;
    this.#turns.send(text);
  }

  #quit(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    const { isInteractive, resumeCommand } = this.#parts;
    const { current, isFine } = this.#turns;
    this.#turns.leave();
    const goesOn = current ? `${whatGoesOn(current)} ` : '';
    if (current || (isInteractive && this.#hasSpoken))
      this.#screen.note(dim(`  ${goesOn}Come back with: ${resumeCommand}`));
    this.#screen.close();
    this.#leave(isFine);
  }
}

function whatGoesOn({ answering, printer, successor, isLost, hasBegun }: LiveTurn): string {
  if (isLost && !hasBegun) return 'It is not known whether your message arrived.';
  const question = !successor && answering.asked() && printer.pendingQuestion();
  if (!question) return 'The turn goes on without you.';
  return `The question stays open until ${shortTime(question.expiresAt)}.`;
}

/** Whether the line waits until the turn asks or is over. */
function hasToWait(input: Input, { answering }: LiveTurn): boolean {
  const isForQuestion = ['answer', 'nothing', 'unknown'].includes(input.kind);
  return input.kind === 'message' || (isForQuestion && answering.asked() === undefined);
}

// Parsing a typed line: a message, an answer, a field of the open form, or a command.

type Input =
  | { kind: 'nothing' }
  | { kind: 'message'; text: string }
  | { kind: 'answer'; action: Action; details?: ApprovalDetails }
  /** For the open form. */
  | { kind: 'field'; line: string }
  | { kind: 'stop' | 'quit' | 'help' }
  | { kind: 'unknown'; command: string };

/**
 * While a form is open, every line except a known command is the value of a field. While another question is open, a
 * bare `n` or `c` answers it, and Enter does if the question is a page. Anything else is a message.
 */
export function readInput(line: string, asked: Asking['kind'] | undefined): Input {
  const text = line.trim();
  const command = readCommand(text);
  if (command) return command;
  if (asked === 'form') return { kind: 'field', line };
  const word = text.toLowerCase();
  const decided = asked === 'approval' ? readApproval(text) : undefined;
  if (decided) return decided;
  if (asked && (word === 'n' || word === 'c')) return readInput(`/${word}`, asked);
  if (asked === 'page' && (word === '' || word === 'y')) return { kind: 'answer', action: 'accept' };
  if (word === '') return { kind: 'nothing' };
  return text.startsWith('/')
    ? { kind: 'unknown', command: text.split(/\s/, 1)[0] ?? text }
    : { kind: 'message', text };
}

const remembered = new Map<string, Remember | undefined>([
  ['y', undefined],
  ['yes', undefined],
  ['yc', 'conversation'],
  ['ya', 'always'],
]);

/** Enter alone approves nothing. */
function readApproval(text: string): Input | undefined {
  const word = text.toLowerCase();
  if (remembered.has(word)) {
    const remember = remembered.get(word);
    return { kind: 'answer', action: 'accept', ...(remember && { details: { remember } }) };
  }
  const [, reason] = /^\/?no?[ ,:]+(.+)$/is.exec(text) ?? [];
  if (reason === undefined) return undefined;
  return { kind: 'answer', action: 'decline', details: { reason: reason.slice(0, 1000) } };
}

function readCommand(text: string): Input | undefined {
  const [command = '', ...words] = text.split(/\s+/);
  const rest = text.slice(command.length).trim();
  if (command.toLowerCase() === '/new')
    return rest === '' ? { kind: 'help' } : { kind: 'message', text: rest };
  if (words.length > 0) return undefined;
  switch (command.toLowerCase()) {
    case '/n':
    case '/decline':
      return { kind: 'answer', action: 'decline' };
    case '/c':
    case '/cancel':
      return { kind: 'answer', action: 'cancel' };
    case '/stop':
      return { kind: 'stop' };
    case '/quit':
      return { kind: 'quit' };
    case '/help':
      return { kind: 'help' };
    default:
      return undefined;
  }
}
