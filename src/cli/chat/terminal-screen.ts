/**
 * The screen of a person: text streams above, the line being typed stays at the bottom. That line is readline's;
 * it is taken away while something is written above it, and hidden while text stops in the middle of a line.
 */
import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { createMarkdown } from './markdown.ts';
import type { Keyboard, Screen } from './screen.ts';
import { plain } from './wording.ts';

/** Long enough that the bottom line does not flicker between two lines of streaming text. */
const settleMs = 60;

export function createTerminalScreen(input: ReadStream, output: WriteStream, keyboard: Keyboard): Screen {
  const markdown = createMarkdown();
  let render = () => '';
  let isShown = false;
  let isMidLine = false;
  let isInText = false;
  /** The text since anything else was written, as it came and as it is on the screen. */
  let said = '';
  let shown = '';
  let wantsGap = false;
  /** The last line above the bottom line is empty. */
  let isBlank = false;
  let isClosed = false;
  let settling: NodeJS.Timeout | undefined;

  const readline = createInterface({
    input,
    output: gate(output, () => isShown),
    terminal: true,
    historySize: 200,
    removeHistoryDuplicates: true,
  });
  const ticking = setInterval(() => isShown && refresh(), 1000);

  readline.on('line', (line) => {
    // Enter on an empty line leaves no trace.
    if (isShown && line.trim() === '') {
      moveCursor(output, 0, -1);
      cursorTo(output, 0);
      clearScreenDown(output);
    } else isBlank = false;
    isShown = false;
    forgetText();
    keyboard.line(line);
    showSoon();
  });
  readline.on('SIGINT', () => {
    if (readline.line === '') keyboard.interrupt();
    else discard();
  });
  readline.on('close', () => {
    if (!isClosed) keyboard.end();
  });

  function discard(): void {
    readline.write(null, { ctrl: true, name: 'e' });
    readline.write(null, { ctrl: true, name: 'u' });
  }

  function hide(): void {
    if (!isShown) return;
    moveCursor(output, 0, -readline.getCursorPos().rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    isShown = false;
  }

  function showSoon(): void {
    clearTimeout(settling);
    if (!isClosed) settling = setTimeout(show, settleMs);
  }

  function show(): void {
    if (isMidLine || isClosed) return;
    if (isShown) return refresh();
    writeGap();
    // Readline goes back over as many rows as its line had when it was last drawn.
    output.write('\n'.repeat(readline.getCursorPos().rows));
    isShown = true;
    readline.setPrompt(render());
    readline.prompt(true);
  }

  function refresh(): void {
    const prompt = render();
    if (prompt === readline.getPrompt()) return;
    readline.setPrompt(prompt);
    readline.prompt(true);
  }

  function writeGap(): void {
    if (wantsGap && !isBlank) {
      output.write('\n');
      if (said !== '') shown += '\n';
    }
    isBlank ||= wantsGap;
    wantsGap = false;
  }

  function write(text: string): void {
    if (text === '') return;
    hide();
    writeGap();
    output.write(text);
    isBlank = false;
    isMidLine = !text.endsWith('\n');
    showSoon();
  }

  function endText(): void {
    if (!isInText) return;
    say(markdown.end());
    if (isMidLine) say('\n');
    isInText = false;
    wantsGap = true;
  }

  function line(text: string): void {
    endText();
    forgetText();
    write(`${text}\n`);
  }

  function forgetText(): void {
    said = '';
    shown = '';
  }

  function say(text: string): void {
    write(text);
    shown += text;
  }

  return {
    text(text) {
      if (!isInText) wantsGap = true;
      isInText = true;
      say(markdown.push(plain(text)));
      said += text;
    },
    endText,
    takeBack(text) {
      if (said === '' || said !== text) return false;
      if (isInText) say(markdown.end());
      const up = rowsBelowStart(shown, output);
      // What has left the screen at its top stays.
      if (up >= output.rows) return false;
      hide();
      moveCursor(output, 0, -up);
      cursorTo(output, 0);
      clearScreenDown(output);
      forgetText();
      [isInText, isMidLine, wantsGap] = [false, false, false];
      // Text always has a blank line above it.
      isBlank = true;
      showSoon();
      return true;
    },
    line,
    gap() {
      endText();
      wantsGap = true;
    },
    note: line,
    prompt(next) {
      render = next;
      showSoon();
    },
    discard,
    close() {
      hide();
      isClosed = true;
      clearInterval(ticking);
      clearTimeout(settling);
      readline.close();
    },
  };
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

/** Lets readline draw only while its line is to be seen. */
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
