/**
 * The screen of a person: text streams above, the line being typed stays at the bottom. That line is taken away while
 * something is written above it, and hidden while text stops in the middle of a line.
 */
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { forTerminal } from '../terminal-text.ts';
import { BottomLine, eraseFrom, gate } from './bottom-line.ts';
import { Markdown } from './markdown.ts';
import type { Keyboard, Screen } from './screen.ts';
import { plain } from './wording.ts';

/** Long enough that the bottom line does not flicker between two lines of streaming text. */
const showAfterMs = 60;

export class TerminalScreen implements Screen {
  readonly #output: WriteStream;
  readonly #bottomLine: BottomLine;
  readonly #markdown: Markdown;
  #isMidLine = false;
  #isInText = false;
  /** The text since anything else was written, as it came and as it is on the screen. */
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
    // What has left the screen at its top stays.
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

/** It is a terminal, and nobody has said otherwise (`NO_COLOR`). */
function takesStyles(output: WriteStream): boolean {
  return styleText('bold', 'x', { stream: output }) !== 'x';
}

/** How many rows the cursor has gone down while `text` was written from the beginning of a line. */
function rowsBelowStart(text: string, output: WriteStream): number {
  const measuring = createInterface({
    input: new PassThrough(),
    output: gate(output, () => false),
    terminal: true,
  });
  measuring.setPrompt(text);
  const { rows, cols } = measuring.getCursorPos();
  measuring.close();
  // A line that is just full goes on in the next row only with its next character.
  return cols === 0 && rows > 0 && !text.endsWith('\n') ? rows - 1 : rows;
}
