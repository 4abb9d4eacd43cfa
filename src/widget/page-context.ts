/** What the page around the widget shows, asked for with every message. A page that cannot say it keeps nobody from sending. */
import { withTimeout } from '../time/with-timeout.ts';

/** A text, or a function that says it when it is asked. Nothing, or an empty one: nothing is told. */
export type PageContext = string | (() => Said | Promise<Said>);

type Said = string | null | undefined | void;

/** The service takes no more. */
const longest = 16_000;
/** For how long a message waits for its context. */
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
