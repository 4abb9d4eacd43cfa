/** What a page keeps for as long as its tab lives, reloads included. One that may not store anything forgets, and no more. */

export function recall(key: string): string | undefined {
  return trying(() => sessionStorage.getItem(key)) ?? undefined;
}

/** `undefined` forgets it. */
export function remember(key: string, text: string | undefined): void {
  trying(() => (text === undefined ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, text)));
}

export function forgetAll(prefix: string): void {
  trying(() => {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  });
}

function trying<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
