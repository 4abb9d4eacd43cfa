/**
 * The markdown that reads better in a terminal: bold, code, headings, list bullets. Works on streaming text, so it
 * holds back a mark until the next character shows what it is. Without styles, marks stay.
 */
const bold = { on: '\u001b[1m', off: '\u001b[22m' };
const code = { on: '\u001b[36m', off: '\u001b[39m' };

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
