/** What the page was served with, and where it gets tokens. */
export interface Settings {
  userName: string;
  temporalUi: string | null;
  suggestions: string[];
  token: () => Promise<string>;
}

/** Null on the page of somebody who is not signed in. */
export function readSettings(): Settings | null {
  const text = document.querySelector('#settings')?.textContent;
  if (!text) return null;
  return { ...(JSON.parse(text) as Omit<Settings, 'token'>), token: fetchToken };
}

async function fetchToken(): Promise<string> {
  const response = await fetch('/playground/token', { method: 'POST' });
  // The sign-in is over: the page leads to a new one.
  if (response.status === 401) location.reload();
  if (!response.ok) throw new Error('You could not be signed in. Reload the page.');
  const { token } = (await response.json()) as { token: string };
  return token;
}
