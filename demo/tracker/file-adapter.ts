/** What Tracker's authorization server must not forget when it restarts: registered clients, grants, refresh tokens. */
import path from 'node:path';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { openJsonFile } from './json-file.ts';

interface Entry {
  payload: AdapterPayload;
  expiresAt: number | null;
}

export interface FileAdapter {
  factory(model: string): Adapter;
  /** Live entries of one model. */
  entries(model: string): [id: string, payload: AdapterPayload][];
  /** Forgets a grant and every token that was given under it. */
  revokeGrant(grantId: string): void;
}

export function openFileAdapter(dataDir: string): FileAdapter {
  const file = openJsonFile<Record<string, Entry>>(path.join(dataDir, 'authorization.json'), () => ({}));
  const all = file.data;
  const isLive = (entry: Entry) => entry.expiresAt === null || entry.expiresAt > Date.now();
  const read = (key: string) => {
    const entry = all[key];
    return entry && isLive(entry) ? entry.payload : undefined;
  };
  const entries = (model: string): [string, AdapterPayload][] =>
    Object.entries(all)
      .filter(([key, entry]) => key.startsWith(`${model}:`) && isLive(entry))
      .map(([key, { payload }]) => [key.slice(model.length + 1), payload]);
  const save = () => {
    for (const [key, entry] of Object.entries(all)) if (!isLive(entry)) delete all[key];
    file.save();
  };
  const dropGrant = (grantId: string) => {
    for (const [key, { payload }] of Object.entries(all)) if (payload.grantId === grantId) delete all[key];
  };
  const change = async (work: () => void): Promise<void> => {
    work();
    save();
  };

  return {
    entries,
    revokeGrant(grantId) {
      delete all[`Grant:${grantId}`];
      dropGrant(grantId);
      save();
    },
    factory: (model) => ({
      upsert: (id, payload, expiresIn) =>
        change(() => {
          const expiresAt = expiresIn === undefined ? null : Date.now() + expiresIn * 1000;
          all[`${model}:${id}`] = { payload, expiresAt };
        }),
      find: async (id) => read(`${model}:${id}`),
      findByUid: async (uid) => entries(model).find(([, payload]) => payload.uid === uid)?.[1],
      findByUserCode: async (code) => entries(model).find(([, payload]) => payload.userCode === code)?.[1],
      consume: (id) =>
        change(() => {
          const payload = read(`${model}:${id}`);
          if (payload) payload.consumed = Math.floor(Date.now() / 1000);
        }),
      destroy: (id) => change(() => void delete all[`${model}:${id}`]),
      revokeByGrantId: (grantId) => change(() => dropGrant(grantId)),
    }),
  };
}
