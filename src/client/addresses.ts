/** Where things are at the service, and what it is told with a request. */
import type { Capabilities } from '../elicitation/capabilities.ts';

export function chatPath(conversationId: string): string {
  return `/run/api/chat/${encodeURIComponent(conversationId)}`;
}

export function conversationPath(conversationId: string): string {
  return `/run/v1/conversations/${encodeURIComponent(conversationId)}`;
}

export function withQuery(
  path: string,
  members: Record<string, string | number | boolean | undefined>,
): string {
  const given = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export function capabilityHeader(capabilities: Capabilities | undefined): Record<string, string> {
  const modes = Object.entries(capabilities ?? {}).flatMap(([mode, can]) => (can ? [mode] : []));
  return modes.length > 0 ? { 'x-supports-elicitation': modes.join(',') } : {};
}
