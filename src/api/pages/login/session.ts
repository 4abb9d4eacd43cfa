/**
 * Sessions of the pages and sign-ins under way, both in sealed cookies, so that any process can serve any request. The database
 * has only the sessions that were ended, because a cookie may have been copied. With https the names have the prefix `__Host-`, so
 * that only this host can set them, not even a sibling subdomain.
 */
import { hash, randomBytes } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { UserPrincipal } from '../../../service/principal.ts';
import type { Service } from '../../../service/service.ts';
import { sameText } from '../../../service/sealed-text.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { languageOf } from '../words.ts';

const sessionLifeMs = 3_600_000;
const signInLifeMs = 600_000;
/** Ended sessions are remembered this much longer, because the database's clock may differ. */
const clockMarginMs = 300_000;
/** So that all cookies fit into a server's limit for headers. */
const maxSignIns = 8;
const maxSignInBytes = 8_000;

const sessionSchema = z.object({
  id: z.string(),
  tenant: z.string(),
  user: z.string(),
  name: z.string().optional(),
  isOperator: z.boolean().default(false),
  seesContents: z.boolean().default(false),
  csrf: z.string(),
  expiresAt: z.number(),
});

/** The pages that a sign-in may lead to when it is not for a question. */
export const otherGoals = [
  'connections',
  'waiting',
  'history',
  'playground',
  'slack-link',
  'slack-install',
  'operators',
] as const;

const signInSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  /** The question to go to; null: the page `to`. */
  elicitationId: z.string().nullable(),
  to: z.enum(otherGoals).default('connections'),
  /** With `operators`: the turn to show. */
  turnId: z.string().nullable().default(null),
  returnUrl: z.string().nullable().default(null),
  expiresAt: z.number(),
});

export type Session = z.infer<typeof sessionSchema> & {
  /** Of the request, not of the cookie. */
  language: Language;
  /** Where the person wants to go back to. From the request, not from the cookie. */
  returnUrl: string | null;
};
export type SignIn = z.infer<typeof signInSchema>;

export interface Sessions {
  /** Call it once per request, before anything reads the session. */
  open(request: FastifyRequest): Promise<void>;
  read(request: FastifyRequest): Session | undefined;
  /** Ends the previous session, and always makes a new session id, against session fixation. */
  start(request: FastifyRequest, reply: FastifyReply, principal: UserPrincipal): Promise<void>;
  /** Invalidates every copy of the session's cookie. */
  end(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** One cookie per sign-in, because two tabs may sign in at once. If there are too many, the oldest are dropped. */
  rememberSignIn(request: FastifyRequest, reply: FastifyReply, signIn: Omit<SignIn, 'expiresAt'>): void;
  takeSignIn(request: FastifyRequest, reply: FastifyReply, state: string): SignIn | undefined;
}

/** Cookies that contain sealed JSON. */
export function sealedCookies(sealedText: Service['sealedText'], publicUrl: string) {
  const secure = publicUrl.startsWith('https:');
  const options: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure };
  return {
    prefix: secure ? '__Host-interlude' : 'interlude',

    /** Returns the length of the cookie's value. */
    write(
      reply: FastifyReply,
      cookie: string,
      value: { expiresAt: number; [member: string]: unknown },
      lifeMs: number,
    ): number {
      const sealed = sealedText.seal(JSON.stringify(value), cookie);
      reply.setCookie(cookie, sealed, { ...options, maxAge: lifeMs / 1000 });
      return sealed.length;
    },

    /** Undefined if the cookie is missing, expired, changed, or sealed with a removed key. */
    read<T extends { expiresAt: number }>(
      request: FastifyRequest,
      cookie: string,
      schema: z.ZodType<T>,
    ): T | undefined {
      const sealed = request.cookies[cookie];
      const text = sealed === undefined ? null : sealedText.open(sealed, cookie);
      if (text === null) return undefined;
      const { data } = schema.safeParse(JSON.parse(text));
      return data && data.expiresAt > Date.now() ? data : undefined;
    },

    clear: (reply: FastifyReply, cookie: string) => void reply.clearCookie(cookie, options),
  };
}

export function createSessions(
  { sealedText, endedSessions }: Pick<Service, 'sealedText' | 'endedSessions'>,
  publicUrl: string,
): Sessions {
  const opened = new WeakMap<FastifyRequest, z.infer<typeof sessionSchema>>();
  const { prefix, write, read, clear } = sealedCookies(sealedText, publicUrl);
  const sessionCookie = `${prefix}-session`;
  const signInPrefix = `${prefix}-sign-in-`;
  const signInCookie = (state: string) => `${signInPrefix}${hash('sha256', state).slice(0, 12)}`;

  async function endOf(request: FastifyRequest): Promise<void> {
    const session = opened.get(request);
    if (!session) return;
    const expiresAt = session.expiresAt + clockMarginMs;
    await endedSessions.add({ idHash: sessionHash(session), expiresAt });
    opened.delete(request);
  }

  return {
    async open(request) {
      const session = read(request, sessionCookie, sessionSchema);
      if (session && !(await endedSessions.has(sessionHash(session)))) opened.set(request, session);
    },
    read(request) {
      const session = opened.get(request);
      return session && { ...session, language: languageOf(request), returnUrl: request.returnUrl };
    },
    async start(request, reply, { tenant, user, name, isOperator = false, seesContents = false }) {
      await endOf(request);
      const session = {
        id: randomText(),
        tenant,
        user,
        ...(name !== undefined && { name }),
        isOperator,
        seesContents,
        csrf: randomText(),
        expiresAt: Date.now() + sessionLifeMs,
      };
      write(reply, sessionCookie, session, sessionLifeMs);
    },
    async end(request, reply) {
      await endOf(request);
      clear(reply, sessionCookie);
    },
    rememberSignIn(request, reply, signIn) {
      const kept: SignIn = { ...signIn, expiresAt: Date.now() + signInLifeMs };
      let left = maxSignInBytes - write(reply, signInCookie(signIn.state), kept, signInLifeMs);
      // Browsers send the oldest first (RFC 6265 §5.4).
      const known = Object.entries(request.cookies).filter(([name]) => name.startsWith(signInPrefix));
      for (const [index, [name, sealed = '']] of known.toReversed().entries()) {
        left -= sealed.length;
        if (left < 0 || index >= maxSignIns - 1) clear(reply, name);
      }
    },
    takeSignIn(request, reply, state) {
      const cookie = signInCookie(state);
      const signIn = read(request, cookie, signInSchema);
      if (signIn) clear(reply, cookie);
      return signIn?.state === state ? signIn : undefined;
    },
  };
}

/** Identifies the session that began an authorization. */
export function sessionHash(session: Pick<Session, 'id'>): string {
  return hash('sha256', session.id);
}

export function principalOf({ tenant, user, isOperator, seesContents }: Session): UserPrincipal {
  return {
    kind: 'user',
    tenant,
    user,
    ...(isOperator && { isOperator }),
    ...(seesContents && { seesContents }),
  };
}

export function displayName(session: Session): string {
  return session.name ?? session.user;
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

/** CSRF protection: the browser says that the form came from our origin, and it has the session's own token. */
export function isFromOurPage(
  request: FastifyRequest,
  publicUrl: string,
  session: Session,
  csrf: string,
): boolean {
  return request.headers.origin === new URL(publicUrl).origin && sameText(csrf, session.csrf);
}
