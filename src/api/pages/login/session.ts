/**
 * What the pages know about a browser: who is signed in, and sign-ins under way. Both live in sealed cookies, so any API
 * process can serve any request; the database holds only which sessions were ended, as a cookie may have been copied. With https the names carry the `__Host-` prefix: nothing but this
 * host, not even a sibling subdomain, can plant them, which is what ties an answer to the person who gave it.
 */
import { hash, randomBytes } from 'node:crypto';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { UserPrincipal } from '../../../service/principal.ts';
import type { Service } from '../../../service/service.ts';

const sessionLifeMs = 3_600_000;
const signInLifeMs = 600_000;
/** An ended session is remembered for longer than it would have lasted: the database's clock may differ. */
const clockMarginMs = 300_000;
/** Enough for the tabs of one person, and small enough that all cookies fit into a server's limit for headers. */
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
export const otherGoals = ['connections', 'playground', 'slack-link', 'slack-install', 'operators'] as const;

const signInSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  /** The question it leads to; null when it leads to the page that `to` names. */
  elicitationId: z.string().nullable(),
  to: z.enum(otherGoals).default('connections'),
  /** With `operators`: the turn to show. */
  turnId: z.string().nullable().default(null),
  returnUrl: z.string().nullable().default(null),
  expiresAt: z.number(),
});

export type Session = z.infer<typeof sessionSchema> & {
  /** Where the person wants to go back to: taken from the request, not from the cookie. */
  returnUrl: string | null;
};
export type SignIn = z.infer<typeof signInSchema>;

export interface Sessions {
  /** Once for each request, before anything reads its session. */
  open(request: FastifyRequest): Promise<void>;
  read(request: FastifyRequest): Session | undefined;
  /**
   * Always a new session id, so that a session planted before the sign-in is worth nothing (session fixation). Ends the one
   * that it replaces.
   */
  start(request: FastifyRequest, reply: FastifyReply, principal: UserPrincipal): Promise<void>;
  /** Also for every copy of its cookie. */
  end(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** One cookie per sign-in: two tabs may sign in at once. The oldest make room when there are too many. */
  rememberSignIn(request: FastifyRequest, reply: FastifyReply, signIn: Omit<SignIn, 'expiresAt'>): void;
  takeSignIn(request: FastifyRequest, reply: FastifyReply, state: string): SignIn | undefined;
}

export function createSessions(
  { sealedText, endedSessions }: Pick<Service, 'sealedText' | 'endedSessions'>,
  publicUrl: string,
): Sessions {
  const opened = new WeakMap<FastifyRequest, z.infer<typeof sessionSchema>>();
  const secure = publicUrl.startsWith('https:');
  const prefix = secure ? '__Host-interlude' : 'interlude';
  const sessionCookie = `${prefix}-session`;
  const signInPrefix = `${prefix}-sign-in-`;
  const signInCookie = (state: string) => `${signInPrefix}${hash('sha256', state).slice(0, 12)}`;
  const options: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure };

  /** Returns the length of the cookie's value. */
  function write(reply: FastifyReply, cookie: string, value: { expiresAt: number }, lifeMs: number): number {
    const sealed = sealedText.seal(JSON.stringify(value), cookie);
    reply.setCookie(cookie, sealed, { ...options, maxAge: lifeMs / 1000 });
    return sealed.length;
  }

  /** Undefined for a cookie that is missing, expired, changed, or sealed with a key that was removed. */
  function read<T extends { expiresAt: number }>(
    request: FastifyRequest,
    cookie: string,
    schema: z.ZodType<T>,
  ): T | undefined {
    const sealed = request.cookies[cookie];
    const text = sealed === undefined ? null : sealedText.open(sealed, cookie);
    if (text === null) return undefined;
    const { data } = schema.safeParse(JSON.parse(text));
    return data && data.expiresAt > Date.now() ? data : undefined;
  }

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
      return session && { ...session, returnUrl: request.returnUrl };
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
      reply.clearCookie(sessionCookie, options);
    },
    rememberSignIn(request, reply, signIn) {
      const kept: SignIn = { ...signIn, expiresAt: Date.now() + signInLifeMs };
      let left = maxSignInBytes - write(reply, signInCookie(signIn.state), kept, signInLifeMs);
      // Browsers send the oldest first (RFC 6265 §5.4).
      const known = Object.entries(request.cookies).filter(([name]) => name.startsWith(signInPrefix));
      for (const [index, [name, sealed = '']] of known.toReversed().entries()) {
        left -= sealed.length;
        if (left < 0 || index >= maxSignIns - 1) reply.clearCookie(name, options);
      }
    },
    takeSignIn(request, reply, state) {
      const cookie = signInCookie(state);
      const signIn = read(request, cookie, signInSchema);
      if (signIn) reply.clearCookie(cookie, options);
      return signIn?.state === state ? signIn : undefined;
    },
  };
}

/** How the credential store recognises the browser that began an authorization. */
export function sessionHash(session: Pick<Session, 'id'>): string {
  return hash('sha256', session.id);
}

/** Who the session acts for. */
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
