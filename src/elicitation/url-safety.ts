/** What to make of addresses that others name: which may be opened, and what a person should know first. None is fetched. */
import type { UrlWarning } from './elicitation.ts';

/** Whether a host name or address, as URLs and settings write it, can only ever be this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
}

/**
 * The rule for every address that is opened, given to a browser, an editor or the operating system, or sent a secret: https,
 * or http on this machine. A link of any other scheme (`vscode:`, `ms-msdt:`) may start a program, whatever host it names.
 */
export function isSafeToOpen(address: string | URL): boolean {
  const { protocol, hostname } = URL.parse(address) ?? { protocol: '', hostname: '' };
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

export type InspectedUrl =
  | { kind: 'ok'; host: string; warnings: UrlWarning[] }
  | { kind: 'refused'; reason: string };

const maximalLength = 8192;

/** `host` is the real one, as a browser reads it. `reason` is one sentence, and never repeats the url. */
export function inspectUrl(url: string): InspectedUrl {
  if (url.length > maximalLength) return refused(`is longer than ${maximalLength} characters`);
  // What readers skip, turn around or read as a slash, so that what is shown would not be what is opened.
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

function refused(what: string): InspectedUrl {
  return { kind: 'refused', reason: `The url ${what}.` };
}

/** Of a URL that may be shown; none of one that may not. */
export function warningsAbout(url: string): UrlWarning[] {
  const inspected = inspectUrl(url);
  return inspected.kind === 'ok' ? inspected.warnings : [];
}

/** For whoever is about to open it. Other words are a newer service's. */
export function warningText(warning: string): string {
  switch (warning) {
    case 'punycode':
      return 'Careful: the address has letters that may only look familiar.';
    case 'userinfo':
      return 'Careful: the address has a name before the host, which can mislead.';
    case 'ip_host':
      return 'Careful: the address is a bare number, not a name.';
    case 'plain_http':
      return 'Careful: the address is not encrypted (http).';
    default:
      return `Careful with the address: ${warning}.`;
  }
}
