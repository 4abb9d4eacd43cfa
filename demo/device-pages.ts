/** The pages on which somebody enters the code of a program that has no browser (RFC 8628). Plain HTML, no script. */
import type { KoaContextWithOIDC } from 'oidc-provider';
import { page } from './identity-page.ts';
import { escapeHtml } from './page.ts';

type Context = KoaContextWithOIDC;

function show(ctx: Context, title: string, content: string): void {
  ctx.type = 'html';
  ctx.body = page(title, `<h1>${title}</h1>${content}`);
}

/** `form` has the fields that the provider needs, and no button. */
function formWith(form: string, id: string, rest: string): string {
  return `${form}<p>${rest}</p><button type="submit" form="${id}">Continue</button>`;
}

export const deviceFlow = {
  enabled: true,
  userCodeInputSource: (ctx: Context, form: string, _out: unknown, error: unknown) => {
    const words = isDenial(error)
      ? 'Denied: the program does not act for you. You can close this page.'
      : error
        ? 'This code is not known. Enter it again.'
        : 'Enter the code that the program shows.';
    show(ctx, 'Sign in a program', formWith(form, 'op.deviceInputForm', words));
  },
  userCodeConfirmSource: (
    ctx: Context,
    form: string,
    client: { clientName?: string | undefined; clientId: string },
    device: { ip?: unknown; ua?: unknown },
    code: string,
  ) => {
    const program = `${textOf(device.ua) || client.clientName || client.clientId}, at ${textOf(device.ip)},`;
    const words = `<strong>${escapeHtml(program)}</strong> asks to act for you. Does it show ${code}? If you did not start it, deny.`;
    const deny = '<button type="submit" form="op.deviceConfirmForm" name="abort" value="yes">Deny</button>';
    show(ctx, 'Sign in a program', formWith(form, 'op.deviceConfirmForm', words) + deny);
  },
  successSource: (ctx: Context) =>
    show(ctx, 'You are signed in', '<p>You can close this page and go back to the program.</p>'),
};

function isDenial(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortedError';
}

/** What a program says of itself, as far as it fits on the page. */
function textOf(said: unknown): string {
  return typeof said === 'string' ? said.slice(0, 100) : '';
}
