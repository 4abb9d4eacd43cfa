/** Clients of either SDK generation, and how each of them sends a call. */
import type { Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Era } from './read-answer.ts';

/** A connected `Client` of `@modelcontextprotocol/client` or of `@modelcontextprotocol/sdk`. */
export interface AnyClient {
  readonly transport?: Transport | undefined;
  /** Only in the second generation. */
  getProtocolEra?(): Era | undefined;
  getServerVersion(): { name: string } | undefined;
  // The generations differ in the other parameters.
  callTool(params: never, ...rest: never[]): Promise<unknown>;
}

export interface ToolToCall {
  name: string;
  arguments?: Record<string, unknown>;
  /** As the server listed it. In the new era, marked arguments are sent as headers, too. */
  inputSchema?: Record<string, unknown>;
  /** As the server listed it. A result that does not fit is the server's fault. */
  outputSchema?: Record<string, unknown> | undefined;
}

interface FirstGeneration {
  request(request: object, schema: z.ZodType, options: object): Promise<unknown>;
}

interface SecondGeneration {
  callTool(params: object, options: object): Promise<unknown>;
}

/** Disables the SDKs' own time-outs. */
const noTimeoutMs = 2 ** 31 - 1;

/** Resolves with the SDK's reading of the answer; the answer itself is read from the transport. */
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
