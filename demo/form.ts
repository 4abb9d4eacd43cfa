import type { IncomingMessage } from 'node:http';

/** What a page's form sent. Ours are short; whatever is longer is cut off. */
export async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > 1_000) break;
  }
  return new URLSearchParams(text);
}
