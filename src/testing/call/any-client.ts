/** What a client of either SDK generation is to us, and how each of them sends a call. */
import type { Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Era } from './read-answer.ts';

/** A connected `Client` of `@modelcontextprotocol/client` or of `@modelcontextprotocol/sdk`. */
export interface AnyClient {
  readonly transport?: Transport | undefined;
  /** Only the second generation knows more than the old era. */
  getProtocolEra?(): Era | undefined;
  getServerVersion(): { name: string } | undefined;
  // The two differ in what follows the parameters.
  callTool(params: never, ...rest: never[]): Promise<unknown>;
}

export interface ToolToCall {
  name: string;
  arguments?: Record<string, unknown>;
  /** As the server listed it: in the new era, arguments that are marked there are sent as headers too. */
  inputSchema?: Record<string, unknown>;
  /** As the server listed it: a result that does not fit is the server's fault. */
  outputSchema?: Record<string, unknown> | undefined;
}

interface FirstGeneration {
  request(request: object, schema: z.ZodType, options: object): Promise<unknown>;
}

interface SecondGeneration {
  callTool(params: object, options: object): Promise<unknown>;
}

/** The SDKs' own clocks are kept out of the way. */
const noTimeoutMs = 2 ** 31 - 1;

/** What it resolves with is an SDK's reading of the answer: the answer itself is read from the transport. */
export function sendCall(
  client: AnyClient,
  { name, inputSchema }: ToolToCall,
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  const options = { signal, timeout: noTimeoutMs, onprogress: () => undefined };
  if (!client.getProtocolEra) {
    const request = { method: 'tools/call', params };
    return (client as unknown as FirstGeneration).request(request, z.looseObject({}), options);
  }
  return (client as unknown as SecondGeneration).callTool(params, {
    ...options,
    allowInputRequired: true,
    ...(inputSchema && { toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } } }),
  });
}
