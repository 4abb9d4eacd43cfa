/**
 * Opens sealed payloads for Temporal's UI, as JSON with Base64 inside. Each payload names its turn inside the seal. Payloads
 * of turns that the operator may not read, and those that name no turn, stay sealed.
 */
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { openPayload } from '../platform/temporal/sealed-payloads.ts';
import type { Operator, Operators } from './operators.ts';

/** `data` and the values of `metadata` in Base64. */
export interface JsonPayload {
  metadata?: Record<string, string> | undefined;
  data?: string | undefined;
}

type OpenPayloads = (by: Operator, payloads: JsonPayload[]) => Promise<JsonPayload[]>;

export function createOpenPayloads({
  keys,
  operators,
}: {
  keys: KeyRing;
  operators: Pick<Operators, 'readable'>;
}): OpenPayloads {
  return async (by, payloads) => {
    const opened = payloads.map((payload) => {
      try {
        return openPayload(keys, fromJson(payload));
      } catch {
        // It belongs to another installation, or is damaged.
        return { payload: fromJson(payload) };
      }
    });
    const readable = await operators.readable(
      by,
      opened.flatMap(({ turn }) => turn ?? []),
    );
    return payloads.map((sealed, index) => {
      const { payload, turn } = opened[index] ?? {};
      return payload && turn !== undefined && readable.has(turn) ? toJson(payload) : sealed;
    });
  };
}

type Payload = Parameters<typeof openPayload>[1];

function fromJson({ metadata = {}, data }: JsonPayload): Payload {
  const decoded = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]);
  return {
    metadata: Object.fromEntries(decoded) as Record<string, Uint8Array>,
    ...(data !== undefined && { data: Buffer.from(data, 'base64') }),
  };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const encoded = Object.entries(metadata ?? {}).map(([name, value]) => [
    name,
    Buffer.from(value).toString('base64'),
  ]);
  return {
    metadata: Object.fromEntries(encoded) as Record<string, string>,
    ...(data && { data: Buffer.from(data).toString('base64') }),
  };
}
