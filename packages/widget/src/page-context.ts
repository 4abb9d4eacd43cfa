/**
 * What the page around the widget shows, requested for every message. A page that fails to return it does not prevent
 * sending.
 */
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';

/** A text, or a function that returns it. Without one, or with an empty one, nothing is passed to the agent. */
export type PageContext = string | (() => Said | Promise<Said>);

type Said = string | null | undefined | void;

/** The service's limit. */
const longest = 16_000;
/** How long a message waits for it. */
const timeoutMs = 5_000;

export async function readContext(context: PageContext): Promise<string | undefined> {
  if (typeof context === 'string') return cut(context);
  try {
    return cut(await withTimeout(context(), timeoutMs, undefined));
  } catch (error) {
    reportError(error);
    return undefined;
  }
}

function cut(text: Said): string | undefined {
  return typeof text === 'string' && text !== '' ? text.slice(0, longest).toWellFormed() : undefined;
}
