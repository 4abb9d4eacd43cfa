/** What a browser brings along on its way to Slack and back, sealed; see ../login/session.ts for who is signed in. */
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { PageContext } from '../context.ts';

/** `link`: the ticket in somebody's hands. `proof`: a sign-in at Slack. `install`: an installation under way. */
const schemas = {
  link: z.object({ token: z.string() }),
  proof: z.object({ token: z.string(), state: z.string(), nonce: z.string(), session: z.string() }),
  install: z.object({ state: z.string(), session: z.string() }),
};
const envelope = z.object({ value: z.unknown(), expiresAt: z.number() });
type Kept = { [Name in keyof typeof schemas]: z.infer<(typeof schemas)[Name]> };

export interface SlackCookies {
  keep<Name extends keyof Kept>(reply: FastifyReply, name: Name, value: Kept[Name]): void;
  read<Name extends keyof Kept>(request: FastifyRequest, name: Name): Kept[Name] | null;
  drop(reply: FastifyReply, name: keyof Kept): void;
}

const lifeMs = 30 * 60 * 1000;

export function createSlackCookies({
  sealedText,
  config,
}: Pick<PageContext, 'sealedText' | 'config'>): SlackCookies {
  const secure = config.http.publicUrl.startsWith('https:');
  const cookieOf = (name: keyof Kept) => `${secure ? '__Host-interlude' : 'interlude'}-slack-${name}`;
  const options: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure };
  return {
    keep(reply, name, value) {
      const kept = { value, expiresAt: Date.now() + lifeMs };
      const sealed = sealedText.seal(JSON.stringify(kept), cookieOf(name));
      reply.setCookie(cookieOf(name), sealed, { ...options, maxAge: lifeMs / 1000 });
    },
    read<Name extends keyof Kept>(request: FastifyRequest, name: Name) {
      const sealed = request.cookies[cookieOf(name)];
      const text = sealed === undefined ? null : sealedText.open(sealed, cookieOf(name));
      if (text === null) return null;
      const kept = envelope.parse(JSON.parse(text));
      if (kept.expiresAt <= Date.now()) return null;
      return schemas[name].parse(kept.value) as Kept[Name];
    },
    drop: (reply, name) => void reply.clearCookie(cookieOf(name), options),
  };
}
