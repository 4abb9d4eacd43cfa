/** The pages on which somebody enters the code of a program that has no browser (RFC 8628). Plain HTML, no script. */
import type { KoaContextWithOIDC } from 'oidc-provider';
import { page } from './identity-page.ts';
import { escapeHtml } from './page.ts';
import { wordsFor } from './words.ts';
import type { DemoWords } from './words.ts';

type Context = KoaContextWithOIDC;

function show(ctx: Context, words: DemoWords, title: string, content: string): void {
  ctx.type = 'html';
  ctx.vary('accept-language');
  ctx.body = page(words, title, `<h1>${title}</h1>${content}`);
}

/** `form` has the fields that the provider needs, and no button. */
function formWith(words: DemoWords, form: string, id: string, rest: string): string {
  return `${form}<p>${rest}</p><button type="submit" form="${id}">${words.continue}</button>`;
}

export const deviceFlow = {
  enabled: true,
  userCodeInputSource: (ctx: Context, form: string, _out: unknown, error: unknown) => {
    const words = wordsFor(ctx.get('accept-language'));
    const rest = isDenial(error) ? words.denied : error ? words.unknownCode : words.enterCode;
    show(ctx, words, words.signInProgram, formWith(words, form, 'op.deviceInputForm', rest));
  },
  userCodeConfirmSource: (
    ctx: Context,
    form: string,
    client: { clientName?: string | undefined; clientId: string },
    device: { ip?: unknown; ua?: unknown },
    code: string,
  ) => {
    const words = wordsFor(ctx.get('accept-language'));
    const name = textOf(device.ua) || client.clientName || client.clientId;
    const program = `<strong>${escapeHtml(words.programAt(name, textOf(device.ip)))}</strong>`;
    const deny = `<button type="submit" form="op.deviceConfirmForm" name="abort" value="yes">${words.deny}</button>`;
    const confirm = formWith(words, form, 'op.deviceConfirmForm', words.showsCode(program, code));
    show(ctx, words, words.signInProgram, confirm + deny);
  },
  successSource: (ctx: Context) => {
    const words = wordsFor(ctx.get('accept-language'));
    show(ctx, words, words.signedIn, `<p>${words.closeThis}</p>`);
  },
};

function isDenial(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortedError';
}

/** What a program says of itself, as far as it fits on the page. */
function textOf(said: unknown): string {
  return typeof said === 'string' ? said.slice(0, 100) : '';
}
