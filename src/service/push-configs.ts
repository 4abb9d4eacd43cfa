/**
 * Where callers want to be notified of a turn. Each target has a workflow of its own, which is started with it. If the
 * process dies in between, the caller gets no response, and starts it by sending the same request again.
 */
import { randomUUID } from 'node:crypto';
import type { Config } from '../platform/config/config.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { openPushTarget, sealPushTarget } from '../credentials/sealing/sealed-values.ts';
import type { PushTarget } from '../credentials/sealing/sealed-values.ts';
import { webhookProblem } from '../platform/network/webhook.ts';
import type { PushConfig } from '../storage/schema/session-tables.ts';
import type { Storage } from '../storage/storage.ts';
import type { OwnTurn } from './own-turn.ts';
import { rateLimitKey } from './principal.ts';
import type { Principal } from './principal.ts';
import type { Deliveries } from './deliveries.ts';
import { invalidInput } from './service-error.ts';

export interface WantedPush {
  id: string;
  target: PushTarget;
  wire: PushConfig['wire'];
  isStructured: boolean;
}

/** Shown to its caller, without secrets. */
export interface OwnPush {
  id: string;
  url: string;
  scheme: string | null;
}

interface Parts {
  storage: Storage;
  keys: KeyRing;
  config: Pick<Config, 'a2a'>;
  startPush: Deliveries['startPush'];
}

/** Per caller: for one turn, and for all turns that have not ended. */
const limits = { perTurn: 10, perCaller: 50 };
const limitWords = {
  perTurn: `There are ${limits.perTurn} for this task already; remove one of them first.`,
  perCaller: `You have ${limits.perCaller} for your tasks already; remove some of them first, or wait for the tasks to end.`,
};
/** A header value by RFC 9110, section 5.5, without characters that some servers cut or refuse. */
const headerValue = /^[!-~]([ -~]{0,4000}[!-~])?$/;
const schemeName = /^[A-Za-z][A-Za-z0-9-]{0,40}$/;

export function createOwnPushes({ storage, keys, config, startPush }: Parts) {
  const { pushConfigs, turnLog } = storage;
  const keyOf = (principal: Principal, turn: OwnTurn, id: string) => ({
    turn,
    caller: rateLimitKey(principal),
    id,
  });
  const targetOf = ({ deliveryId, sealed }: PushConfig) => openPushTarget(keys, deliveryId, sealed);
  const shown = (push: PushConfig): OwnPush => {
    const { url, authentication } = targetOf(push);
    return { id: push.id, url, scheme: authentication?.scheme ?? null };
  };

  return {
    /** An `invalid_request` if this target is not allowed. */
    check: (target: PushTarget): void => checkTarget(target, config.a2a.targets),
    async put(principal: Principal, turn: OwnTurn, { target, ...wanted }: WantedPush): Promise<OwnPush> {
      checkTarget(target, config.a2a.targets);
      const key = keyOf(principal, turn, wanted.id);
      const earlier = await pushConfigs.get(key);
      const isSame =
        earlier?.wire === wanted.wire &&
        earlier.isStructured === wanted.isStructured &&
        JSON.stringify(targetOf(earlier)) === JSON.stringify(target);
      if (isSame) {
        await startPush(earlier);
        return shown(earlier);
      }
      const deliveryId = randomUUID();
      const { tenant, conversation, turnId } = turn;
      const push: PushConfig = {
        ...key,
        ...wanted,
        turn: { tenant, conversation, turnId },
        deliveryId,
        position: await turnLog.latest(turn),
        sealed: sealPushTarget(keys, deliveryId, target),
      };
      const kept = await pushConfigs.put(push, limits);
      if (kept !== 'kept') throw invalidInput(['id'], limitWords[kept]);
      await startPush(push);
      return shown(push);
    },
    async get(principal: Principal, turn: OwnTurn, id: string): Promise<OwnPush | null> {
      const push = await pushConfigs.get(keyOf(principal, turn, id));
      return push && shown(push);
    },
    async list(principal: Principal, turn: OwnTurn): Promise<OwnPush[]> {
      return (await pushConfigs.list(keyOf(principal, turn, ''))).map(shown);
    },
    remove: (principal: Principal, turn: OwnTurn, id: string): Promise<void> =>
      pushConfigs.remove(keyOf(principal, turn, id)),
  };
}

function checkTarget({ url, token, authentication }: PushTarget, reach: Config['a2a']['targets']): void {
  const problem = webhookProblem(url, reach);
  if (problem !== null) throw invalidInput(['url'], `This address is not called: ${problem}.`);
  if (token !== '' && !headerValue.test(token))
    throw invalidInput(['token'], 'Send visible characters of ASCII, at most 4000.');
  if (!authentication) return;
  if (!schemeName.test(authentication.scheme))
    throw invalidInput(
      ['authentication', 'scheme'],
      'Send the name of an HTTP authentication scheme, like Bearer.',
    );
  if (!headerValue.test(authentication.credentials))
    throw invalidInput(['authentication', 'credentials'], 'Send visible characters of ASCII, at most 4000.');
}
