/** A notification as it goes over the wire: specification 1.0, section 4.3.3; in 0.3, the task. */
import { createHash } from 'node:crypto';
import { StreamResponse } from '@a2a-js/sdk';
import { SignJWT } from 'jose';
import { toLegacyTask } from '../../a2a/legacy.ts';
import type { News } from '../../a2a/push-news.ts';
import type { SigningKey } from '../../config/signing-keys.ts';
import type { PushTarget } from '../../credentials/sealing/sealed-push-target.ts';
import type { PushConfig } from '../../storage/ports/push-configs.ts';

export interface Notification {
  body: string;
  headers: Record<string, string>;
}

const mediaTypes = { '1.0': 'application/a2a+json', '0.3': 'application/json' };
/** Long enough for clocks that differ, too short to be kept and sent again. */
const validFor = '5m';

export async function bodiesOf(news: News, wire: PushConfig['wire']): Promise<string[]> {
  if (wire === '0.3') return [JSON.stringify(await toLegacyTask(news.task))];
  return news.updates.map((update) => JSON.stringify(StreamResponse.toJSON(update)));
}

export interface Sender {
  publicUrl: string;
  key: SigningKey | undefined;
}

/** `id` names the notification: it stays the same when it is sent again. */
export async function toNotification(
  { body, id }: { body: string; id: string },
  { turn, wire, target }: Pick<PushConfig, 'turn' | 'wire'> & { target: PushTarget },
  { publicUrl, key }: Sender,
): Promise<Notification> {
  const { url, token, authentication } = target;
  const signature =
    key &&
    (await new SignJWT({
      taskId: turn.turnId,
      request_body_sha256: createHash('sha256').update(body).digest('hex'),
    })
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT' })
      .setIssuer(publicUrl)
      .setAudience(new URL(url).origin)
      .setIssuedAt()
      .setExpirationTime(validFor)
      .setJti(id)
      .sign(key.jwk));
  const own = authentication && `${authentication.scheme} ${authentication.credentials}`;
  const authorization = own ?? (signature && `Bearer ${signature}`);
  return {
    body,
    headers: {
      'content-type': mediaTypes[wire],
      'user-agent': 'Interlude',
      'x-a2a-notification-id': id,
      ...(token !== '' && { 'x-a2a-notification-token': token }),
      ...(authorization && { authorization }),
      ...(signature && { 'x-a2a-notification-signature': signature }),
    },
  };
}
