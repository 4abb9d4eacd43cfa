/** Headers from the command line: `name: value`. */
import { UsageError } from '../command.ts';

/** Throws `UsageError` with the name only: the value may be a secret. */
export function readHeaders(given: readonly string[], option: string): Headers {
  const headers = new Headers();
  for (const text of given) {
    const at = text.indexOf(':');
    const name = text.slice(0, Math.max(at, 0)).trim();
    try {
      headers.append(name, text.slice(at + 1).trim());
    } catch (cause) {
      throw new UsageError(`${option} ${name} cannot be sent; write "name: value".`, { cause });
    }
  }
  return headers;
}
