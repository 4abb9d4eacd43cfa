/**
 * The forms of a signed-in person. `postForm` writes one, and `onForm` takes it: only from our own origin, with the token of the
 * person's session, within a limit. Everything else is audited and changes nothing.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { html } from './html.ts';
import type { Html } from './html.ts';
import type { PageContext } from './context.ts';
import { sendPage } from './layout.ts';
import type { Page, Redirect } from './layout.ts';
import { displayName, isFromOurPage } from './login/session.ts';
import type { Session } from './login/session.ts';
import { notice } from './outcome-pages.ts';
import { wordsFor, wordsOf } from './words.ts';
import type { PageWords } from './words.ts';

/** For the forms on a page. */
export interface SignedIn {
  words: PageWords;
  signedInAs: string;
  tenant: string;
  csrf: string;
  publicUrl: string;
  returnUrl: string | null;
}

export function signedInAs(session: Session, publicUrl: string): SignedIn {
  const { tenant, csrf, returnUrl, language } = session;
  const words = wordsFor(language);
  return { words, signedInAs: displayName(session), tenant, csrf, publicUrl, returnUrl };
}

/** `attributes`: more of them for the form. */
export function postForm(
  { publicUrl, csrf, returnUrl }: Pick<SignedIn, 'publicUrl' | 'csrf' | 'returnUrl'>,
  path: string,
  hidden: Record<string, string>,
  content: Html,
  attributes?: Html,
): Html {
  const fields = Object.entries({ ...hidden, csrf, ...(returnUrl !== null && { returnUrl }) });
  return html`<form method="post" action="${publicUrl}${path}" ${attributes}>
    ${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)} ${content}
  </form>`;
}

/**
 * The footer that says who is signed in, with the form to sign out. `elicitationId`: the question to come back to after signing
 * in as another user; null: the settings page.
 */
export function signedIn(view: SignedIn, elicitationId: string | null): Html {
  const hidden = elicitationId === null ? {} : { e: elicitationId };
  const { words } = view;
  return html`${words.signedInAs(view.signedInAs)}
  ${postForm(view, '/auth/logout', hidden, html`<button>${words.notYou}</button>`)}`;
}

/** In bytes: the longest API key, each character of which may be encoded as nine. */
export const longestForm = 50_000;

interface Sent<Input> {
  input: Input;
  session: Session;
  request: FastifyRequest;
  reply: FastifyReply;
}

interface FormRoute<Input> {
  path: string;
  /** The fields besides the token. With `e`, the form is about that question. */
  input: z.ZodType<Input>;
  bodyLimit?: number;
  /** The page with the form, for another try. */
  page(request: FastifyRequest): string | undefined;
  /** If the session is over; absent: the person signs in and tries again. */
  signedOut?(input: Input, request: FastifyRequest): Page;
  handle(sent: Sent<Input>): Promise<Page | Redirect>;
}

const token = z.object({ csrf: z.string() });

export function onForm<Input extends object>(
  fastify: FastifyInstance,
  { config, sessions, refusals }: PageContext,
  { path, input: schema, bodyLimit = longestForm, page, signedOut, handle }: FormRoute<Input>,
): void {
  const { publicUrl } = config.http;

  async function receive(request: FastifyRequest, reply: FastifyReply): Promise<Page | Redirect> {
    const [sent, read] = [token.safeParse(request.body), schema.safeParse(request.body)];
    const again = page(request);
    const words = wordsOf(request);
    if (!sent.success || !read.success) {
      await refusals.record(request, 'an incomplete form');
      return notice(words, 400, 'incompleteForm', again);
    }
    const { data: input } = read;
    const about = 'e' in input ? { elicitationId: String(input.e) } : {};
    const session = sessions.read(request);
    if (!session) {
      if (signedOut) return signedOut(input, request);
      await refusals.record(request, 'a form without a session', about);
      return notice(words, 403, 'signedOutMeanwhile', again);
    }
    if (!isFromOurPage(request, publicUrl, session, sent.data.csrf)) {
      await refusals.record(request, 'form from another page', about);
      return notice(words, 403, 'foreignForm', again);
    }
    return handle({ input, session, request, reply });
  }

  fastify.post(path, { bodyLimit }, async (request, reply) => sendPage(reply, await receive(request, reply)));
}
