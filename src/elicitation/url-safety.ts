/** What to make of a link that a stranger asks a person to open. The link itself is never fetched. */
import type { UrlWarning } from './elicitation.ts';
import { isLoopbackHost } from './loopback-host.ts';

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
  const { protocol, password, hostname, host } = parsed;
  if (password !== '') return refused('contains a password');
  const found: Record<UrlWarning, boolean> = {
    userinfo: authority.includes('@'),
    punycode: hostname.split('.').some((label) => label.startsWith('xn--')),
    ip_host: hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname),
    plain_http: protocol === 'http:' && !isLoopbackHost(hostname),
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
