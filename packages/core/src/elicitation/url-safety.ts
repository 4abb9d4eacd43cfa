/** Which untrusted addresses may be opened, and what a person should know before. Fetches nothing. */
import type { UrlWarning } from './elicitation.ts';

/** Whether a host name or address, as in URLs and settings, can only be this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
}

/**
 * The rule for every address that is opened by a browser, an editor or the operating system, or that gets a secret: https,
 * or http on this machine. Links with other schemes (`vscode:`, `ms-msdt:`) may start a program.
 */
export function isSafeToOpen(address: string | URL): boolean {
  const { protocol, hostname } = URL.parse(address) ?? { protocol: '', hostname: '' };
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

type InspectedUrl =
  | { kind: 'ok'; host: string; warnings: UrlWarning[] }
  | { kind: 'refused'; reason: string };

const maximalLength = 8192;

/** `host`: as a browser reads it. `reason`: one sentence, which never contains the url. */
export function inspectUrl(url: string): InspectedUrl {
  if (url.length > maximalLength) return refused(`is longer than ${maximalLength} characters`);
  // Characters that readers skip, reorder or treat as a slash: the shown address would differ from the opened one.
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(url)) return refused('has characters that must be percent-encoded');
  const authority = /^https?:\/\/([^/?#]+)/i.exec(url)?.[1];
  if (authority === undefined) return refused('is not a complete http or https address');
  const parsed = URL.parse(url);
  if (!parsed) return refused('cannot be read');
  const { password, hostname, host } = parsed;
  if (password !== '') return refused('contains a password');
  const found: Record<UrlWarning, boolean> = {
    userinfo: authority.includes('@'),
    punycode: hostname.split('.').some((label) => label.startsWith('xn--')),
    ip_host: hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname),
    plain_http: !isSafeToOpen(parsed),
  };
  return { kind: 'ok', host, warnings: warnings.filter((warning) => found[warning]) };
}

const warnings: readonly UrlWarning[] = ['userinfo', 'punycode', 'ip_host', 'plain_http'];

const warningTexts = new Map<string, string>(
  Object.entries({
    punycode: 'Careful: the address has letters that may only look familiar.',
    userinfo: 'Careful: the address has a name before the host, which can mislead.',
    ip_host: 'Careful: the address is a bare number, not a name.',
    plain_http: 'Careful: the address is not encrypted (http).',
  } satisfies Record<UrlWarning, string>),
);

function refused(what: string): InspectedUrl {
  return { kind: 'refused', reason: `The url ${what}.` };
}

/** Splits an address to highlight the host, as the browser reads it. */
export function splitAtHost(url: string): { before: string; host: string; after: string } {
  const parsed = URL.parse(url);
  if (!parsed) return { before: url, host: '', after: '' };
  const { protocol, username, host, pathname, search, hash } = parsed;
  const user = username === '' ? '' : `${username}@`;
  return { before: `${protocol}//${user}`, host, after: `${pathname}${search}${hash}` };
}

/** The warnings about a URL; empty if the URL is refused. */
export function warningsAbout(url: string): UrlWarning[] {
  const inspected = inspectUrl(url);
  return inspected.kind === 'ok' ? inspected.warnings : [];
}

/** For the person who is about to open the URL. Unknown warnings come from a newer service. */
export function warningText(warning: string): string {
  return warningTexts.get(warning) ?? `Careful with the address: ${warning}.`;
}
