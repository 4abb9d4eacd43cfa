/** What clients and people stumble over in the address of a page. The page is never fetched. Pure. */
import { inspectUrl, isLoopbackHost, warningText } from '../../elicitation/url-safety.ts';
import type { Seen } from './rules.ts';

/** Names of parameters by which somebody is signed in, whoever they are. */
const credential =
  /^(?:access|id|refresh|auth|session|bearer)?[-_]?token$|jwt|password|passwd|secret|api[-_]?key|credential|^sid$/i;
const personal = /[\w.+-]@[\w-]{1,63}\.[a-z]/i;
const jwt = /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;

export function inspectPage({ url }: Record<string, unknown>): Seen[] {
  // No address at all is the protocol's fault, and told as such.
  if (typeof url !== 'string') return [];
  const parsed = URL.parse(url);
  const inspected = inspectUrl(url);
  if (parsed && (parsed.username !== '' || parsed.password !== ''))
    return [{ rule: 'url-with-credentials', message: 'The url has a user or a password before its host.' }];
  if (!parsed || inspected.kind === 'refused') {
    const reason = inspected.kind === 'refused' ? inspected.reason : 'The url cannot be read.';
    return [{ rule: 'url-invalid', message: reason }];
  }
  const { warnings, host } = inspected;
  const parameters = [...parsed.searchParams, ...new URLSearchParams(parsed.hash.slice(1))];
  const given = parameters.find(
    ([name, value]) => value !== '' && (credential.test(name) || jwt.test(value)),
  );
  const said =
    parameters.some(([, value]) => personal.test(value)) || personal.test(decoded(parsed.pathname));
  return [
    ...(warnings.includes('plain_http')
      ? [{ rule: 'url-not-https' as const, message: `The url of ${host} is not encrypted.` }]
      : []),
    ...(given
      ? [{ rule: 'url-with-credentials' as const, message: `The url has a "${given[0]}" in it.` }]
      : []),
    ...(said
      ? [{ rule: 'url-with-personal-data' as const, message: 'The url has an email address in it.' }]
      : []),
    ...warnings
      .filter(
        (warning) => warning === 'punycode' || (warning === 'ip_host' && !isLoopbackHost(parsed.hostname)),
      )
      .map((warning) => ({
        rule: 'url-looks-wrong' as const,
        message: warningText(warning).replace('Careful: the', 'The'),
      })),
  ];
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
