/**
 * The SDK refuses a whole list of tools for one that breaks its schema. Such a tool passes it inside of one that does not,
 * so that its reader can judge each tool by itself.
 */
import { isSpecType } from '@modelcontextprotocol/client';
import type { Client, JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../elicitation/form/schema-keywords.ts';

const hidden = 'interlude/listed';

/** From now on, for all lists that this client asks for. */
export function passOddTools({ transport }: Client): void {
  if (!transport) return;
  const toClient = transport.onmessage;
  transport.onmessage = (message, extra) => {
    hideOddTools(message);
    toClient?.(message, extra);
  };
}

/** The tool as its server listed it. */
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
