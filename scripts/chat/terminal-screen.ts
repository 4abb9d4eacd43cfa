/**
 * The screen of a person: text streams above, the line being typed stays at the bottom. That line is readline's;
 * it is taken away while something is written above it, and hidden while text stops in the middle of a line.
 */
import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';
import { Writable } from 'node:stream';
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
    if (wantsGap && !isBlank) output.write('\n');
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
    write(markdown.end());
    if (isMidLine) write('\n');
    isInText = false;
    wantsGap = true;
  }

  function line(text: string): void {
    endText();
    write(`${text}\n`);
  }

  return {
    text(text) {
      if (!isInText) wantsGap = true;
      isInText = true;
      write(markdown.push(plain(text)));
    },
    endText,
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
