/**
 * The histories of tools in TypeScript are sealed, because inputs, answers and results of authors' code pass through them.
 * The workers of tools seal and open payloads; other readers (turns, the API, loops) only open them.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { SealingError } from '../../credentials/sealing/key-ring.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { turnOfWorkflow } from '../../turn/turn.ts';

/** A payload before it is sealed. `text` if its data are UTF-8, otherwise `base64`. */
interface Opened {
  /** The turn that it belongs to; absent if it is unknown, and in payloads of older releases. */
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

/** Returns payloads that are not sealed unchanged. `turn`: its id, if the sealed payload contains it. */
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

/**
 * A codec that turns unreadable payloads for workflows into `null`, which every handler treats as malformed. Otherwise a
 * signal or query with such a payload would make the workflow's task fail and be retried forever, because payloads are read
 * before any handler is called.
 *
 * Payloads of activities are not changed. A workflow's input and what its children return are decoded like signals: without
 * its input a workflow does not start, as before, and a child whose result is `null` counts as lost.
 */
type Context = Parameters<PayloadCodec['decode']>[1];

const nothing = defaultPayloadConverter.toPayload(null);

export function unreadableAsNull(codec: PayloadCodec): PayloadCodec {
  return {
    ...codec,
    decode: (payloads, context) =>
      context?.type === 'workflow'
        ? Promise.all(payloads.map((payload) => readableOrNull(codec, payload, context)))
        : codec.decode(payloads, context),
  };
}

async function readableOrNull(codec: PayloadCodec, payload: Payload, context: Context): Promise<Payload> {
  try {
    const [decoded = nothing] = await codec.decode([payload], context);
    return isReadable(decoded) ? decoded : nothing;
  } catch (error) {
    // A missing key may be added again, and the payload may be an answer.
    if (error instanceof SealingError && error.code !== 'unknown-key') return nothing;
    throw error;
  }
}

function isReadable(payload: Payload): boolean {
  try {
    defaultPayloadConverter.fromPayload(payload);
    return true;
  } catch {
    return false;
  }
}
