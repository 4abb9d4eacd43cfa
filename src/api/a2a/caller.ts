/** Who calls, carried by the SDK's call context from the route to the handler. */
import { ServerCallContext } from '@a2a-js/sdk/server';
import type { Principal } from '../../service/principal.ts';
import { elicitationExtension } from '../../a2a/extension.ts';

export interface A2ACaller {
  principal: Principal;
  /** Where from, for the audit. */
  address: string | null;
  /** Aborts when the caller is gone or this process closes; the task goes on. */
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
  if (!caller) throw new Error('every request arrives with its caller');
  context.state.set(handledKey, true);
  const isStructured = context.requestedExtensions?.includes(elicitationExtension) ?? false;
  return { ...caller, isStructured };
}

/** The request came as far as a handler, which asks first who calls. */
export function wasHandled(context: ServerCallContext): boolean {
  return context.state.has(handledKey);
}

/** The SDK's JSON-RPC would call it an internal error, so the route answers with it instead. */
export function keepOutage(context: ServerCallContext, error: unknown): void {
  context.state.set(outageKey, error);
}

export function outageIn(context: ServerCallContext): unknown {
  return context.state.get(outageKey);
}

function userName(principal: Principal): string {
  return principal.kind === 'user' ? principal.user : principal.keyId;
}
