/**
 * Where a caller wants to be told of a turn. Each is delivered by a workflow of its own, which is started with it; a
 * process that dies in between has answered nobody, and whoever sends the same again starts it.
 */
import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { openPushTarget, sealPushTarget } from '../credentials/sealing/sealed-push-target.ts';
import type { PushTarget } from '../credentials/sealing/sealed-push-target.ts';
import { webhookProblem } from '../network/webhook.ts';
import type { PushConfig } from '../storage/ports/push-configs.ts';
import type { Storage } from '../storage/storage.ts';
import type { OwnTurn } from './own-turn.ts';
import { rateLimitKey } from './principal.ts';
import type { Principal } from './principal.ts';
import type { PushDeliveries } from './push-deliveries.ts';
import { invalidInput } from './service-error.ts';

export interface WantedPush {
  id: string;
  target: PushTarget;
  wire: PushConfig['wire'];
  isStructured: boolean;
}

/** What its caller is shown of it again: never a secret. */
export interface OwnPush {
  id: string;
  url: string;
  scheme: string | null;
}

export interface OwnPushes {
  /** An `invalid_request` where nothing may be sent to. */
  check(target: PushTarget): void;
  put(principal: Principal, turn: OwnTurn, wanted: WantedPush): Promise<OwnPush>;
  get(principal: Principal, turn: OwnTurn, id: string): Promise<OwnPush | null>;
  list(principal: Principal, turn: OwnTurn): Promise<OwnPush[]>;
  remove(principal: Principal, turn: OwnTurn, id: string): Promise<void>;
}

interface Parts {
  storage: Pick<Storage, 'pushConfigs' | 'turnLog'>;
  keys: KeyRing;
  config: Pick<Config, 'a2a'>;
  deliveries: PushDeliveries;
}

/** Of one caller, as each makes us call somebody: for one turn, and for all that have not ended. */
const limits = { perTurn: 10, perCaller: 50 };
const limitWords = {
  perTurn: `There are ${limits.perTurn} for this task already; remove one of them first.`,
  perCaller: `You have ${limits.perCaller} for your tasks already; remove some of them first, or wait for the tasks to end.`,
};
/** Of HTTP headers: RFC 9110, section 5.5, without what some servers cut or refuse. */
const headerValue = /^[!-~]([ -~]{0,4000}[!-~])?$/;
const schemeName = /^[A-Za-z][A-Za-z0-9-]{0,40}$/;

export function createOwnPushes({ storage, keys, config, deliveries }: Parts): OwnPushes {
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
    check: (target) => checkTarget(target, config.a2a.targets),
    async put(principal, turn, { target, ...wanted }) {
      checkTarget(target, config.a2a.targets);
      const key = keyOf(principal, turn, wanted.id);
      const earlier = await pushConfigs.get(key);
      const isSame =
        earlier?.wire === wanted.wire &&
        earlier.isStructured === wanted.isStructured &&
        JSON.stringify(targetOf(earlier)) === JSON.stringify(target);
      if (isSame) {
        await deliveries.start(earlier);
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
      await deliveries.start(push);
      return shown(push);
    },
    async get(principal, turn, id) {
      const push = await pushConfigs.get(keyOf(principal, turn, id));
      return push && shown(push);
    },
    async list(principal, turn) {
      return (await pushConfigs.list(keyOf(principal, turn, ''))).map(shown);
    },
    remove: (principal, turn, id) => pushConfigs.remove(keyOf(principal, turn, id)),
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
