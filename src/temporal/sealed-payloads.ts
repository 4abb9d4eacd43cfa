/**
 * What histories of tools in TypeScript hold is sealed: inputs, answers and results of authors' code pass through them.
 * The workers of tools seal and open; whoever else reads what they say (turns, the API, loops) only opens.
 */
import type { PayloadCodec } from '@temporalio/common';
import { turnOfWorkflow } from '../turn/turn.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';

type Payload = Parameters<PayloadCodec['encode']>[0][number];

/** A payload as it is sealed. `text` where its data are UTF-8. */
interface Opened {
  /** Whose contents they are; absent where it is not known, and in those of older releases. */
  turn?: string;
  metadata: Record<string, string>;
  text?: string;
  base64?: string;
}

const encoding = 'binary/interlude-sealed';
const context = 'tool-history';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function sealingCodec(keys: KeyRing): PayloadCodec {
  return {
    encode: (payloads, context) =>
      Promise.resolve(payloads.map((payload) => seal(keys, payload, context?.workflowId))),
    decode: (payloads) => Promise.resolve(payloads.map((payload) => openPayload(keys, payload).payload)),
  };
}

export function openingCodec(keys: KeyRing): PayloadCodec {
  return { ...sealingCodec(keys), encode: (payloads) => Promise.resolve(payloads) };
}

function seal(keys: KeyRing, { metadata, data }: Payload, workflowId: string | undefined): Payload {
  const turn = workflowId === undefined ? undefined : turnOfWorkflow(workflowId)?.turnId;
  const names = Object.entries(metadata ?? {}).map(([name, value]) => [
    name,
    Buffer.from(value).toString('utf8'),
  ]);
  const opened: Opened = {
    metadata: Object.fromEntries(names) as Record<string, string>,
    ...(data && dataOf(data)),
    ...(turn !== undefined && { turn }),
  };
  const sealed = keys.seal(JSON.stringify(opened), context);
  return { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(sealed) };
}

/** What is not sealed stays as it is. `turn`: its id, where the payload is sealed and says it. */
export function openPayload(keys: KeyRing, sealed: Payload): { payload: Payload; turn?: string } {
  if (!isSealed(sealed)) return { payload: sealed };
  const { data } = sealed;
  const opened = JSON.parse(keys.open(Buffer.from(data ?? []).toString('utf8'), context)) as Opened;
  const names = Object.entries(opened.metadata).map(([name, value]) => [name, Buffer.from(value)]);
  const { text, base64, turn } = opened;
  const payload: Payload = {
    metadata: Object.fromEntries(names) as Record<string, Uint8Array>,
    ...(text !== undefined && { data: Buffer.from(text) }),
    ...(base64 !== undefined && { data: Buffer.from(base64, 'base64') }),
  };
  return { payload, ...(turn !== undefined && { turn }) };
}

function isSealed({ metadata, data }: Payload): boolean {
  return Boolean(data) && Buffer.from(metadata?.['encoding'] ?? []).toString('utf8') === encoding;
}

function dataOf(data: Uint8Array): Pick<Opened, 'text' | 'base64'> {
  try {
    return { text: utf8.decode(data) };
  } catch {
    return { base64: Buffer.from(data).toString('base64') };
  }
}
