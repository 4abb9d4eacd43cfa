/**
 * The screen for people: text streams above, the line being typed stays at the bottom. That line is removed while something is
 * written above it, and hidden while text stops in the middle of a line.
 */
import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';
import type { Interface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { forTerminal, plain } from '@interlude-ai/kit/terminal/terminal-text.ts';
import type { Keyboard, Screen } from './screen.ts';

/** Long enough that the bottom line does not flicker between two lines of streaming text. */
const showAfterMs = 60;

export class TerminalScreen implements Screen {
  readonly #output: WriteStream;
  readonly #bottomLine: BottomLine;
  readonly #markdown: Markdown;
  #isMidLine = false;
  #isInText = false;
  /** The text since the last other output: as it came, and as it is on the screen. */
  #said = '';
  #shown = '';
  #wantsGap = false;
  /** The last line above the bottom line is empty. */
  #isBlank = false;
  #isClosed = false;
  #showing: NodeJS.Timeout | undefined;

  constructor(input: ReadStream, output: WriteStream, keyboard: Keyboard) {
    this.#output = output;
    this.#markdown = new Markdown(takesStyles(output));
    this.#bottomLine = new BottomLine(input, output, {
      ...keyboard,
      line: (line) => {
        if (line.trim() !== '') this.#isBlank = false;
        this.#forgetText();
        keyboard.line(line);
        this.#showSoon();
      },
    });
  }

  text(text: string): void {
    if (!this.#isInText) this.#wantsGap = true;
    this.#isInText = true;
    this.#say(this.#markdown.push(plain(text)));
    this.#said += text;
  }

  endText(): void {
    if (!this.#isInText) return;
    this.#say(this.#markdown.end());
    if (this.#isMidLine) this.#say('\n');
    this.#isInText = false;
    this.#wantsGap = true;
  }

  takeBack(text: string): boolean {
    if (this.#said === '' || this.#said !== text) return false;
    if (this.#isInText) this.#say(this.#markdown.end());
    const up = rowsBelowStart(this.#shown, this.#output);
    // Lines that scrolled off the top stay.
    if (up >= this.#output.rows) return false;
    this.#bottomLine.hide();
    eraseFrom(this.#output, up);
    this.#forgetText();
    this.#isInText = false;
    this.#isMidLine = false;
    this.#wantsGap = false;
    // Text always has a blank line above it.
    this.#isBlank = true;
    this.#showSoon();
    return true;
  }

  line(text: string): void {
    this.endText();
    this.#forgetText();
    this.#write(forTerminal(`${text}\n`));
  }

  gap(): void {
    this.endText();
    this.#wantsGap = true;
  }

  note(text: string): void {
    this.line(text);
  }

  prompt(render: () => string): void {
    this.#bottomLine.prompt(() => forTerminal(render()));
    this.#showSoon();
  }

  discard(): void {
    this.#bottomLine.discard();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#showing);
    this.#bottomLine.close();
  }

  #say(text: string): void {
    this.#write(text);
    this.#shown += text;
  }

  #forgetText(): void {
    this.#said = '';
    this.#shown = '';
  }

  #write(text: string): void {
    if (text === '') return;
    this.#bottomLine.hide();
    this.#writeGap();
    this.#output.write(text);
    this.#isBlank = false;
    this.#isMidLine = !text.endsWith('\n');
    this.#showSoon();
  }

  #writeGap(): void {
    if (this.#wantsGap && !this.#isBlank) {
      this.#output.write('\n');
      if (this.#said !== '') this.#shown += '\n';
    }
    this.#isBlank ||= this.#wantsGap;
    this.#wantsGap = false;
  }

  #showSoon(): void {
    clearTimeout(this.#showing);
    if (!this.#isClosed) this.#showing = setTimeout(() => this.#showBottomLine(), showAfterMs);
  }

  #showBottomLine(): void {
    if (this.#isMidLine || this.#isClosed) return;
    if (!this.#bottomLine.isShown) this.#writeGap();
    this.#bottomLine.show();
  }
}

/** A terminal, and not `NO_COLOR`. */
function takesStyles(output: WriteStream): boolean {
  return styleText('bold', 'x', { stream: output }) !== 'x';
}

/** How many rows the cursor moved down while `text` was written from the start of a line. */
function rowsBelowStart(text: string, output: WriteStream): number {
  const measuring = createInterface({
    input: new PassThrough(),
    output: gate(output, () => false),
    terminal: true,
  });
  measuring.setPrompt(text);
  const { rows, cols } = measuring.getCursorPos();
  measuring.close();
  // A full line only wraps with its next character.
  return cols === 0 && rows > 0 && !text.endsWith('\n') ? rows - 1 : rows;
}

/** The line that is being typed. Readline draws it, only while it is shown: hide it before writing above it. */
class BottomLine {
  readonly #output: WriteStream;
  readonly #readline: Interface;
  readonly #ticking: NodeJS.Timeout;
  #render = () => '';
  #isShown = false;
  #isClosed = false;

  /** `keyboard` gets a line once the bottom line is gone from the screen. */
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
      // An empty line leaves no trace.
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

  /** The prompt, rendered each time the line is drawn, and every second. */
  prompt(render: () => string): void {
    this.#render = render;
  }

  show(): void {
    if (this.#isShown) return this.#refresh();
    // Readline moves up as many rows as its line had when it was last drawn.
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

  /** Drops the typed text. */
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
function eraseFrom(output: WriteStream, up: number): void {
  moveCursor(output, 0, -up);
  cursorTo(output, 0);
  clearScreenDown(output);
}

/** Lets readline draw only while `isOpen`. */
function gate(output: WriteStream, isOpen: () => boolean): Writable {
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

const bold = { on: '\u001b[1m', off: '\u001b[22m' };
const code = { on: '\u001b[36m', off: '\u001b[39m' };

/**
 * The markdown that reads better in a terminal: bold, code, headings, list bullets. Works on streaming text, so it
 * holds back a mark until the next character shows what it is. Without styles, marks stay.
 */
export class Markdown {
  readonly #isStyled: boolean;
  #isBold = false;
  #isCode = false;
  #isHeading = false;
  #isLineStart = true;
  #held = '';

  constructor(isStyled: boolean) {
    this.#isStyled = isStyled;
  }

  push(text: string): string {
    return this.#isStyled ? Array.from(text, (character) => this.#take(character)).join('') : text;
  }

  /** The text that was held back, with all styles closed. */
  end(): string {
    const rest = this.#held + this.#closeLine();
    this.#held = '';
    return rest;
  }

  #take(character: string): string {
    const mark = this.#held + character;
    this.#held = '';
    if (character === '\n') return mark.slice(0, -1) + this.#closeLine() + '\n';
    if (mark === '**') {
      this.#isLineStart = false;
      return this.#isCode ? mark : this.#setBold(!this.#isBold);
    }
    if (this.#isLineStart && /^(#{1,6}|[*-])$/.test(mark)) {
      this.#held = mark;
      return '';
    }
    if (this.#isLineStart && /^#{1,6} $/.test(mark)) {
      this.#isLineStart = false;
      this.#isHeading = true;
      return this.#setBold(true);
    }
    if (this.#isLineStart && /^[*-] $/.test(mark)) {
      this.#isLineStart = false;
      return '• ';
    }
    if (mark === '*') {
      this.#held = mark;
      return '';
    }
    if (character !== ' ') this.#isLineStart = false;
    if (character !== '`') return mark;
    return mark.slice(0, -1) + this.#setCode(!this.#isCode);
  }

  #closeLine(): string {
    const closed =
      (this.#isBold || this.#isHeading ? this.#setBold(false) : '') +
      (this.#isCode ? this.#setCode(false) : '');
    this.#isHeading = false;
    this.#isLineStart = true;
    return closed;
  }

  #setBold(isOn: boolean): string {
    this.#isBold = isOn;
    return isOn ? bold.on : bold.off;
  }

  #setCode(isOn: boolean): string {
    this.#isCode = isOn;
    return isOn ? code.on : code.off;
  }
}
