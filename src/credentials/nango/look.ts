/** Looks at Nango for what came of attempts, for whoever was not told. Two of one attempt: the newest is kept. */
import type { Config, ServerConfig } from '../../config/config.ts';
import type { ConnectAttempt } from '../../storage/ports/connect-attempts.ts';
import type { ConnectionKey } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import { connectionKey } from '../connection-key.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Listed } from './answers.ts';
import type { NangoClient } from './client.ts';
import { toStoreError } from './failure.ts';
import { integrationOf, isFor, isOfAttempt, openLink, tagsOf } from './link.ts';
import { recordedAs } from './record.ts';
import type { Confirmation, Connected, Recorder } from './record.ts';
import type { RemoveUnused } from './disconnect.ts';

interface Dependencies {
  storage: Pick<Storage, 'connections' | 'connectAttempts'>;
  keys: KeyRing;
  client: NangoClient;
  record: Recorder;
  removeUnused: RemoveUnused;
  servers: Config['servers'];
  installation: string;
  confirmFound: ConfirmFound;
}

/** Told of every account that was found here and not before. */
export type ConfirmFound = (found: Connected) => Promise<void>;

/** Somebody with more attempts at one account has given up on the older ones. */
const mostAttempts = 10;

interface Found {
  attempt: ConnectAttempt;
  listed: Listed;
}

export function createLook(deps: Dependencies) {
  const { storage, keys, client, record, removeUnused, servers, installation, confirmFound } = deps;
  const { connections, connectAttempts } = storage;

  return {
    async confirm(attemptId: string, connectionId: string): Promise<Confirmation> {
      const known = await find(attemptId);
      return known ? record(known.attempt, known.server, connectionId) : { kind: 'unknown-attempt' };
    },

    async look(attemptId: string): Promise<Confirmation> {
      const known = await find(attemptId);
      if (!known) return { kind: 'unknown-attempt' };
      const { attempt, server } = known;
      const news = await settle(server, await list(server, [attempt]));
      const newest = news.at(-1);
      if (newest) return newest;
      const { row, link } = await recorded(attempt);
      return row && link?.attemptId === attemptId ? recordedAs(attempt, row) : { kind: 'nothing-yet' };
    },

    async catchUp(server: ServerConfig, owner: ConnectionKey): Promise<void> {
      const attempts = await connectAttempts.openOf(connectionKey(server, owner));
      if (attempts.length === 0) return;
      const news = await settle(server, await list(server, attempts.slice(0, mostAttempts)));
      // Nobody else will: whoever connected has left, and no webhook came.
      for (const found of news) await confirmFound(found);
    },
  };

  async function find(attemptId: string) {
    const attempt = await connectAttempts.get(attemptId);
    const server = servers.get(attempt?.server ?? '');
    return attempt && server?.store === 'nango' ? { attempt, server } : null;
  }

  async function list(server: ServerConfig, attempts: ConnectAttempt[]): Promise<Found[]> {
    const integration = integrationOf(server);
    try {
      const lists = await Promise.all(
        attempts.map(async (attempt) => {
          const all = await client.list(integration, tagsOf(installation, attempt.id));
          const ours = all.filter(({ tags }) => isOfAttempt(tags, installation, attempt.id));
          return ours.map((listed) => ({ attempt, listed }));
        }),
      );
      return lists.flat().toSorted((one, other) => one.listed.createdAt - other.listed.createdAt);
    } catch (error) {
      throw toStoreError(server, error);
    }
  }

  /** Records what is new, oldest first, and ends what has been replaced. Answers with the news, in this order. */
  async function settle(server: ServerConfig, found: Found[]): Promise<Connected[]> {
    const news: Connected[] = [];
    for (const { attempt, listed } of found) {
      const { connectionId, createdAt } = listed;
      const { link } = await recorded(attempt);
      if (link?.connectionId === connectionId && link.attemptId === attempt.id) continue;
      const isReplaced =
        link && link.connectionId !== connectionId && createdAt <= link.since && isFor(link, server);
      if (isReplaced) await removeUnused(link.integration, connectionId);
      else {
        const confirmation = await record(attempt, server, connectionId);
        if (confirmation.kind === 'connected' && confirmation.isNews) news.push(confirmation);
      }
    }
    return news;
  }

  async function recorded(key: ConnectionKey) {
    const row = await connections.get(key);
    const opened = openLink(keys, row);
    return { row, link: opened.kind === 'link' ? opened.link : null };
  }
}
