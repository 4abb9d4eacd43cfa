/** How a page of an author's proves that it is the one: for the page's own server, never for a tool's code or a browser. */

export interface Completion {
  /** Of the question that sent the user to the page; the page has it from its own address. */
  elicitationId: string;
  /** What the variable holds that `tools.completionSecretEnv` of the agents file names. */
  secret: string;
  /** The body that is sent along, byte by byte as it is sent. */
  body?: string;
  /** When it is signed, in epoch milliseconds. Default: now. */
  at?: number;
}

/**
 * The value of the header `Interlude-Signature` of `POST /run/v1/elicitations/{id}/complete`. It counts for five minutes;
 * sent again, it changes nothing.
 */
export async function signCompletion({
  elicitationId,
  secret,
  body = '',
  at = Date.now(),
}: Completion): Promise<string> {
  const time = Math.floor(at / 1000);
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['sign']);
  const signed = await crypto.subtle.sign('HMAC', key, bytes(`${time}.${elicitationId}.${body}`));
  const hex = Array.from(new Uint8Array(signed), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `t=${time},v1=${hex}`;
}
