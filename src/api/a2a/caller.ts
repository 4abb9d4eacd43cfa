/**
 * Who calls, in which version and with which extensions, carried by the SDK's call context from the route to the agent's
 * handler.
 */
import { ServerCallContext } from '@a2a-js/sdk/server';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { Extensions } from '@a2a-js/sdk';
import type { AgentCard } from '@a2a-js/sdk';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../service/principal.ts';
import { elicitationExtension } from './vocabulary/question.ts';

export interface A2ACaller {
  principal: Principal;
  /** IP address, for the audit. */
  address: string | null;
  /** Aborts when the caller disconnects or this process closes. The task goes on. */
  signal: AbortSignal;
}

const key = 'interlude.caller';
const handledKey = 'interlude.handled';
const outageKey = 'interlude.outage';

export function contextOf(
  caller: A2ACaller,
  { version, extensions }: { version: string; extensions: string[] },
): ServerCallContext {
  const context = new ServerCallContext({
    requestedVersion: version,
    requestedExtensions: extensions,
    user: { isAuthenticated: true, userName: userName(caller.principal) },
    state: new Map([[key, caller]]),
  });
  if (extensions.includes(elicitationExtension)) context.addActivatedExtension(elicitationExtension);
  return context;
}

export function callerOf(context: ServerCallContext): A2ACaller & { isStructured: boolean } {
  const caller = context.state.get(key) as A2ACaller | undefined;
  if (!caller) throw new Error('the call context has no caller');
  context.state.set(handledKey, true);
  const isStructured = context.requestedExtensions?.includes(elicitationExtension) ?? false;
  return { ...caller, isStructured };
}

/** True once a handler ran: each begins with `callerOf`. */
export function wasHandled(context: ServerCallContext): boolean {
  return context.state.has(handledKey);
}

/** The SDK's JSON-RPC transport would make an internal error of an outage, so the route answers it. */
export function keepOutage(context: ServerCallContext, error: unknown): void {
  context.state.set(outageKey, error);
}

export function outageIn(context: ServerCallContext): unknown {
  return context.state.get(outageKey);
}

function userName(principal: Principal): string {
  return principal.kind === 'user' ? principal.user : principal.keyId;
}

export interface Served {
  card: AgentCard;
  handler: A2ARequestHandler;
}

export interface Agents {
  /** Throws for an unknown agent. */
  find(name: string): Served;
  contextFor(request: FastifyRequest, reply: FastifyReply): ServerCallContext;
}

/** Tells the caller that our extension is active. */
export function nameExtensions(reply: FastifyReply, context: ServerCallContext, header: string): void {
  if (context.activatedExtensions?.includes(elicitationExtension)) reply.header(header, elicitationExtension);
}

const legacyVersion = '0.3';

type VersionedRequest = Pick<FastifyRequest, 'headers' | 'query'>;

/** Requests that name no version speak 0.3 (specification 1.0, section 3.6.2). */
export function versionOf(request: VersionedRequest): string {
  return namedVersionOf(request) ?? legacyVersion;
}

export function namedVersionOf({ headers, query }: VersionedRequest): string | null {
  const named = headers['a2a-version'] ?? (query as Record<string, unknown>)['A2A-Version'];
  const version = typeof named === 'string' ? named.trim() : '';
  // The patch number is not part of the protocol version (section 3.6): 1.0.1 is 1.0.
  return version === '' ? null : version.replace(/^(\d+\.\d+)\.\d+$/, '$1');
}

export function isLegacy(version: string): boolean {
  return version === legacyVersion;
}

/** The extensions that the caller asked for. 0.3 has another header for them. */
export function extensionsOf({ headers }: Pick<FastifyRequest, 'headers'>): string[] {
  const named = headers['a2a-extensions'] ?? headers['x-a2a-extensions'];
  return Extensions.parseServiceParameter(Array.isArray(named) ? named.join(',') : named);
}
