/** The pages on which somebody enters the code of a program that has no browser (RFC 8628). Plain HTML, no script. */
import type { KoaContextWithOIDC } from 'oidc-provider';
import { page } from './identity-page.ts';

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
    const words = error
      ? 'This code is not known. Enter it again.'
      : 'Enter the code that the program shows.';
    show(ctx, 'Sign in a program', formWith(form, 'op.deviceInputForm', words));
  },
  userCodeConfirmSource: (ctx: Context, form: string, _client: unknown, _device: unknown, code: string) => {
    const words = `Does the program show ${code}? If you did not start one, close this page.`;
    show(ctx, 'Sign in a program', formWith(form, 'op.deviceConfirmForm', words));
  },
  successSource: (ctx: Context) =>
    show(ctx, 'You are signed in', '<p>You can close this page and go back to the program.</p>'),
};
