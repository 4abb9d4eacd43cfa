/** The settings that the page was served with, and whether its user is still signed in, as of the latest token request. */
import { useSyncExternalStore } from 'react';
import { words } from './words.ts';

/** `replaced`: another user has signed in, in another window of this browser. */
type Status = 'valid' | 'over' | 'replaced';

export interface SignIn {
  /** An access token for the API. Rejects while the user is signed out. */
  token(): Promise<string>;
  status(): Status;
  onChange(listener: () => void): () => void;
}

export function createSignIn(user: string): SignIn {
  const listeners = new Set<() => void>();
  let status: Status = 'valid';

  function become(now: Status) {
    status = now;
    for (const listener of listeners) listener();
  }

  return {
    async token() {
      const response = await fetch('/playground/token', { method: 'POST' });
      if (response.status === 401) become('over');
      if (!response.ok) throw new Error(words.noToken(response.status));
      const given = (await response.json()) as { user: string; token: string };
      become(given.user === user ? 'valid' : 'replaced');
      if (given.user !== user) throw new Error(words.noTokenForOther);
      return given.token;
    },
    status: () => status,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStatus({ onChange, status }: SignIn): Status {
  return useSyncExternalStore(onChange, status);
}

export interface Settings {
  user: string;
  userName: string;
  temporalUi: string | null;
  /** By agent id. */
  suggestions: Record<string, string[]>;
  /** Agents and tools are taken up while they change. */
  isWatched: boolean;
}

/** Null when no user is signed in. */
export function readSettings(): Settings | null {
  const text = document.querySelector('#settings')?.textContent;
  return text ? (JSON.parse(text) as Settings) : null;
}
