/**
 * What histories of tools in TypeScript hold is sealed: inputs, answers and results of authors' code pass through them.
 * The workers of tools seal and open; whoever else reads what they say (turns, the API, loops) only opens.
 */
import type { PayloadCodec } from '@temporalio/common';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';

type Payload = Parameters<PayloadCodec['encode']>[0][number];

/** A payload as it is sealed. `text` where its data are UTF-8. */
interface Opened {
  metadata: Record<string, string>;
  text?: string;
  base64?: string;
}

const encoding = 'binary/interlude-sealed';
const context = 'tool-history';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function sealingCodec(keys: KeyRing): PayloadCodec {
  return {
    encode: (payloads) => Promise.resolve(payloads.map((payload) => seal(keys, payload))),
    decode: (payloads) => Promise.resolve(payloads.map((payload) => open(keys, payload))),
  };
}

export function openingCodec(keys: KeyRing): PayloadCodec {
  return { ...sealingCodec(keys), encode: (payloads) => Promise.resolve(payloads) };
}

function seal(keys: KeyRing, { metadata, data }: Payload): Payload {
  const names = Object.entries(metadata ?? {}).map(([name, value]) => [
    name,
    Buffer.from(value).toString('utf8'),
  ]);
  const opened: Opened = {
    metadata: Object.fromEntries(names) as Record<string, string>,
    ...(data && dataOf(data)),
  };
  const sealed = keys.seal(JSON.stringify(opened), context);
  return { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(sealed) };
}

function open(keys: KeyRing, payload: Payload): Payload {
  const { metadata, data } = payload;
  if (!data || Buffer.from(metadata?.['encoding'] ?? []).toString('utf8') !== encoding) return payload;
  const opened = JSON.parse(keys.open(Buffer.from(data).toString('utf8'), context)) as Opened;
  const names = Object.entries(opened.metadata).map(([name, value]) => [name, Buffer.from(value)]);
  const { text, base64 } = opened;
  return {
    metadata: Object.fromEntries(names) as Record<string, Uint8Array>,
    ...(text !== undefined && { data: Buffer.from(text) }),
    ...(base64 !== undefined && { data: Buffer.from(base64, 'base64') }),
  };
}

function dataOf(data: Uint8Array): Pick<Opened, 'text' | 'base64'> {
  try {
    return { text: utf8.decode(data) };
  } catch {
    return { base64: Buffer.from(data).toString('base64') };
  }
}
