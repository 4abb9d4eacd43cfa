/** Whether the one whom the page was made for is still signed in, as the service said when a token was last asked for. */
import { useSyncExternalStore } from 'react';

/** `replaced`: somebody else is signed in, from another window of the same browser. */
type Status = 'valid' | 'over' | 'replaced';

export interface SignIn {
  /** For the API. Fails while the sign-in is over, and works again once it was renewed in whatever window. */
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
      if (!response.ok) throw new Error(`No token: the service answered ${response.status}.`);
      const given = (await response.json()) as { user: string; token: string };
      become(given.user === user ? 'valid' : 'replaced');
      if (given.user !== user) throw new Error('No token: somebody else is signed in.');
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
