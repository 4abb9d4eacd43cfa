/**
 * The line that is being typed, below everything else on the screen. It is readline's, which draws it only while it is
 * shown: whoever writes above it hides it first.
 */
import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';
import type { Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Keyboard } from './screen.ts';

export class BottomLine {
  readonly #output: WriteStream;
  readonly #readline: Interface;
  readonly #ticking: NodeJS.Timeout;
  #render = () => '';
  #isShown = false;
  #isClosed = false;

  /** `keyboard` hears of a line when the screen is as it is without it. */
  constructor(input: ReadStream, output: WriteStream, keyboard: Keyboard) {
    this.#output = output;
    this.#readline = createInterface({
      input,
      output: gate(output, () => this.#isShown),
      terminal: true,
      historySize: 200,
      removeHistoryDuplicates: true,
    });
    this.#ticking = setInterval(() => this.#isShown && this.#refresh(), 1000);
    this.#readline.on('line', (line) => {
      // Enter on an empty line leaves no trace.
      if (this.#isShown && line.trim() === '') eraseFrom(output, 1);
      this.#isShown = false;
      keyboard.line(line);
    });
    this.#readline.on('SIGINT', () => keyboard.interrupt());
    this.#readline.on('close', () => {
      if (!this.#isClosed) keyboard.end();
    });
  }

  get isShown(): boolean {
    return this.#isShown;
  }

  /** What stands before what is typed; asked for anew whenever the line is drawn, and every second. */
  prompt(render: () => string): void {
    this.#render = render;
  }

  show(): void {
    if (this.#isShown) return this.#refresh();
    // Readline goes back over as many rows as its line had when it was last drawn.
    this.#output.write('\n'.repeat(this.#readline.getCursorPos().rows));
    this.#isShown = true;
    this.#readline.setPrompt(this.#render());
    this.#readline.prompt(true);
  }

  hide(): void {
    if (!this.#isShown) return;
    eraseFrom(this.#output, this.#readline.getCursorPos().rows);
    this.#isShown = false;
  }

  /** Takes away what has been typed. */
  discard(): void {
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
  }

  close(): void {
    this.hide();
    this.#isClosed = true;
    clearInterval(this.#ticking);
    this.#readline.close();
  }

  #refresh(): void {
    const prompt = this.#render();
    if (prompt === this.#readline.getPrompt()) return;
    this.#readline.setPrompt(prompt);
    this.#readline.prompt(true);
  }
}

/** Erases the row that is `up` rows above the cursor, and everything below it. */
export function eraseFrom(output: WriteStream, up: number): void {
  moveCursor(output, 0, -up);
  cursorTo(output, 0);
  clearScreenDown(output);
}

/** Lets readline draw only while `isOpen`. */
export function gate(output: WriteStream, isOpen: () => boolean): Writable {
  const gated = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      if (isOpen()) output.write(text);
      done();
    },
  });
  Object.defineProperty(gated, 'columns', { get: () => output.columns });
  output.on('resize', () => gated.emit('resize'));
  return gated;
}
