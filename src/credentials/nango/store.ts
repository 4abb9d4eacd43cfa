import type { Logger } from 'pino';
import type { Config, NangoConfig } from '../../config/config.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { createBegin } from './begin.ts';
import { createNangoClient } from './client.ts';
import { createDisconnect } from './disconnect.ts';
import { createLook } from './look.ts';
import type { NangoStore } from './nango-store.ts';
import { createRecorder } from './record.ts';
import { createReject } from './reject.ts';
import { createRemove } from './remove.ts';
import { createResolver } from './resolve.ts';
import { createStanding } from './standing.ts';
import { installationOf } from './tags.ts';
import { createTokens } from './tokens.ts';

interface Options {
  storage: Pick<Storage, 'audit' | 'connections' | 'connectAttempts'>;
  keys: KeyRing;
  nango: NangoConfig;
  /** Ours; tells our connections from those of others in the same environment of Nango. */
  publicUrl: string;
  servers: Config['servers'];
  logger: Logger;
  now?: () => number;
  /** For every single request to Nango. Default five seconds. */
  timeoutMs?: number;
  /** How long who disconnects waits for what is being recorded at the moment. Default ten seconds. */
  patienceMs?: number;
}

export function createNangoStore(options: Options): NangoStore {
  const { storage, keys, nango, publicUrl, servers, logger, now = Date.now } = options;
  const { timeoutMs = 5_000, patienceMs = 10_000 } = options;
  const installation = installationOf(publicUrl);
  const client = createNangoClient({ nango, logger, timeoutMs });
  const remove = createRemove({ client, logger });
  const tokens = createTokens({ client, now });
  const record = createRecorder({ storage, keys, client, remove, installation });
  const look = createLook({ storage, keys, client, record, remove, servers, installation, now });
  const resolver = createResolver({ storage, keys, tokens, catchUp: look.catchUp, logger, now });
  return {
    ...look,
    resolve: resolver.resolve,
    reject: createReject({ storage, tokens, resolver, now }),
    standing: createStanding({ keys }),
    ...createDisconnect({ storage, keys, client, tokens, remove, installation, patienceMs, now }),
    begin: createBegin({ storage, keys, client, nango, installation, now }),
  };
}
