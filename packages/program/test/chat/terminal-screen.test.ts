/** What a terminal shows after text was taken back, cell by cell. */
import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { afterEach, describe, expect, test } from 'vitest';
import type { Screen } from '../../src/chat/screen.ts';
import { TerminalScreen } from '../../src/chat/terminal-screen.ts';

const columns = 10;
const rows = 8;

/** Understands what the screen uses: lines that wrap, moving, clearing below; colours leave no trace. */
function createTerminal() {
  let cells: string[][] = [[]];
  let [row, column] = [0, 0];
  function put(character: string) {
    if (column === columns) newLine();
    (cells[row] ??= [])[column++] = character;
  }
  function newLine() {
    [row, column] = [row + 1, 0];
    cells[row] ??= [];
  }
  function control(code: string, count: number) {
    if (code === 'A') row = Math.max(0, row - count);
    if (code === 'G') column = count - 1;
    if (code === 'J') {
      cells = cells.slice(0, row + 1);
      cells[row] = (cells[row] ?? []).slice(0, column);
    }
  }
  return {
    take(text: string) {
      // eslint-disable-next-line no-control-regex
      for (const [found, count, code] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|[^]/g)) {
        if (code !== undefined) control(code, Number(count === '' ? 1 : count));
        else if (found === '\n') newLine();
        else if (found === '\r') column = 0;
        else put(found);
      }
    },
    lines: () =>
      cells.map((line) =>
        Array.from(line, (cell) => cell ?? ' ')
          .join('')
          .trimEnd(),
      ),
  };
}

const open: Screen[] = [];
afterEach(() => open.splice(0).forEach((screen) => screen.close()));

function openScreen() {
  const terminal = createTerminal();
  const output = Object.assign(new PassThrough(), { columns, rows, isTTY: true }) as unknown as WriteStream;
  output.on('data', (chunk: Buffer) => terminal.take(chunk.toString()));
  const input = new PassThrough() as unknown as ReadStream;
  const screen = new TerminalScreen(input, output, { line() {}, interrupt() {}, end() {} });
  open.push(screen);
  screen.line('before');
  return { screen, lines: terminal.lines, said: () => terminal.lines().filter((line) => line !== '') };
}

describe('text that is taken back', () => {
  test.each([
    ['in the middle of a line', ['Once ', 'up']],
    ['of several lines', ['Once\nupon\n', 'a ti']],
    ['that goes on in the next row', ['Once upon a ti', 'me, in a land']],
    ['that just fills its row', ['0123456789']],
    ['whose rows are just full', ['0123456789\n', '0123456789']],
    ['with a mark that is held back', ['**Once** upon *']],
    ['that has ended', ['Once upon.\n']],
  ])('leaves nothing: %s', (_, pieces) => {
    const [{ screen, lines, said }, other] = [openScreen(), openScreen()];
    for (const piece of pieces) screen.text(piece);
    expect(said().length).toBeGreaterThan(1);
    expect(screen.takeBack(pieces.join(''))).toBe(true);
    expect(said()).toEqual(['before']);
    for (const one of [screen, other.screen]) {
      one.text('Again');
      one.line('after');
    }
    expect(lines()).toEqual(other.lines());
    expect(said()).toEqual(['before', 'Again', 'after']);
  });

  test('leaves what else was said', () => {
    const { screen, said } = openScreen();
    screen.text('Let me look.');
    screen.line('tool');
    screen.text('There ');
    expect(screen.takeBack('There ')).toBe(true);
    expect(said()).toEqual(['before', 'Let me loo', 'k.', 'tool']);
  });

  test('stays when something has been written below its beginning', () => {
    const { screen, said } = openScreen();
    screen.text('Once ');
    screen.line('tool');
    screen.text('upon');
    expect(screen.takeBack('Once upon')).toBe(false);
    expect(said()).toEqual(['before', 'Once', 'tool', 'upon']);
  });

  test('stays when its beginning has left the screen', () => {
    const { screen } = openScreen();
    const text = 'line\n'.repeat(rows);
    screen.text(text);
    expect(screen.takeBack(text)).toBe(false);
  });
});
