/** What the page was served with. */
export interface Settings {
  user: string;
  userName: string;
  temporalUi: string | null;
  /** By agent. */
  suggestions: Record<string, string[]>;
}

/** Null on the page of somebody who is not signed in. */
export function readSettings(): Settings | null {
  const text = document.querySelector('#settings')?.textContent;
  return text ? (JSON.parse(text) as Settings) : null;
}
