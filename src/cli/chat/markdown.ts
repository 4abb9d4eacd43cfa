/**
 * The little markdown that reads better in a terminal: bold, code, headings, list bullets. Works on text as it
 * streams, so it holds back a mark until the next character shows what it is.
 */
const bold = ['\u001b[1m', '\u001b[22m'] as const;
const code = ['\u001b[36m', '\u001b[39m'] as const;

export interface Markdown {
  push(text: string): string;
  /** What was held back, with everything closed. */
  end(): string;
}

export function createMarkdown(): Markdown {
  let isBold = false;
  let isCode = false;
  let isHeading = false;
  let isLineStart = true;
  let held = '';

  const setBold = (on: boolean) => {
    isBold = on;
    return bold[on ? 0 : 1];
  };
  const setCode = (on: boolean) => {
    isCode = on;
    return code[on ? 0 : 1];
  };

  function closeLine(): string {
    const closed = (isBold || isHeading ? setBold(false) : '') + (isCode ? setCode(false) : '');
    isHeading = false;
    isLineStart = true;
    return closed;
  }

  function take(character: string): string {
    const mark = held + character;
    held = '';
    if (character === '\n') return mark.slice(0, -1) + closeLine() + '\n';
    if (mark === '**') {
      isLineStart = false;
      return isCode ? mark : setBold(!isBold);
    }
    if (isLineStart && /^(#{1,6}|[*-])$/.test(mark)) {
      held = mark;
      return '';
    }
    if (isLineStart && /^#{1,6} $/.test(mark)) {
      isLineStart = false;
      isHeading = true;
      return setBold(true);
    }
    if (isLineStart && /^[*-] $/.test(mark)) {
      isLineStart = false;
      return '• ';
    }
    if (mark === '*') {
      held = mark;
      return '';
    }
    if (character !== ' ') isLineStart = false;
    if (character !== '`') return mark;
    return mark.slice(0, -1) + setCode(!isCode);
  }

  return {
    push: (text) => Array.from(text, take).join(''),
    end() {
      const rest = held + closeLine();
      held = '';
      return rest;
    },
  };
}
