import { isSpecType } from '@modelcontextprotocol/client';
import type { Client, JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../elicitation/form/schema-keywords.ts';

/**
 * The SDK rejects a whole list because of one tool that breaks its schema. So such a tool is wrapped in one that fits it,
 * and unwrapped by `asListed`.
 */
const hidden = 'interlude/listed';

/** Applies to all lists that this client reads from now on. */
export function passOddTools({ transport }: Client): void {
  if (!transport) return;
  const toClient = transport.onmessage;
  transport.onmessage = (message, extra) => {
    hideOddTools(message);
    toClient?.(message, extra);
  };
}

export function asListed(tool: unknown): unknown {
  const schema = isRecord(tool) ? tool['inputSchema'] : undefined;
  return isRecord(schema) && hidden in schema ? schema[hidden] : tool;
}

function hideOddTools(message: JSONRPCMessage): void {
  if (!('result' in message)) return;
  const { tools } = message.result;
  if (!Array.isArray(tools)) return;
  message.result['tools'] = tools.map((tool: unknown) =>
    isSpecType.Tool(tool) ? tool : { name: 'hidden', inputSchema: { type: 'object', [hidden]: tool } },
  );
}
