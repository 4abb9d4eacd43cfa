/**
 * Removes secrets that have a recognisable shape from any text: keys, tokens, credentials of HTTP headers and passwords in
 * addresses. Used before external text is written to a file or a log. Other secrets are not found. Pure.
 */
export function hideSecrets(text: string, hidden: string): string {
  const withoutBasic = text.replaceAll(basic, (found, word: string, code: string) =>
    isCredential(code) ? word + hidden : found,
  );
  return shapes.reduce(
    (left, shape) =>
      left.replaceAll(shape, (_, kept: unknown) => (typeof kept === 'string' ? kept : '') + hidden),
    withoutHeaders(withoutBasic, hidden),
  );
}

/** The captured part stays. */
const shapes = [
  // To its end, or to the end of a text that was cut.
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[^]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----|$)/g,
  /(\/\/[^\s/@:]{0,200}:)[^\s/@]{1,500}(?=@)/g,
  /\b(bearer\s+)[\w.~+/=-]{8,}/gi,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b(?:sk|pk|rk)[-_][\w-]{16,}/g,
  /\b(?:gh[pousr]|github_pat|glpat)[-_]\w{20,}/g,
  /\bxox[abeoprs]-[\w-]{10,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bilk_[0-9a-f]{16}_[\w-]{20,}/g,
  /\bAIza[\w-]{30,}/g,
  /\b(?:npm|hf|lin_api)_[A-Za-z0-9]{16,}/g,
  /\bxapp-[\w-]{10,}/g,
  // Named as a secret, with = or quotation marks: `password=hunter2`, `"password": "hunter2"`. A sentence has neither.
  /((?:password|passwd|secret|token|(?:api|account)[_-]?key)\\?["']?(?:=\\?["']?| ?: ?\\?["']))[^\s"'\\&;,]{4,}/gi,
];

/** “Basic” is also a word, so what follows must decode to a name and a password. */
const basic = /\b(basic\s+)([A-Za-z0-9+/]{4,}={0,2})/gi;

function isCredential(code: string): boolean {
  try {
    return /^[^\p{Cc}:]*:\P{Cc}*$/u.test(atob(code));
  } catch {
    return false;
  }
}

const named = /(?<![\w-])([\w-]{1,60})["']? ?[:=] ?["']?/g;

/** Hides credentials of headers in a text; each header ends with its line or its quotation mark. */
function withoutHeaders(text: string, hidden: string): string {
  let shown = '';
  let from = 0;
  for (const found of text.matchAll(named)) {
    const begin = found.index + found[0].length;
    if (found.index < from) continue;
    const secret = secretOf((found[1] ?? '').toLowerCase(), text.slice(begin, begin + longestLine));
    if (secret === '') continue;
    shown += text.slice(from, begin) + hidden;
    from = begin + secret.length;
  }
  return shown + text.slice(from);
}

const longestLine = 20_000;
const schemesOfSeveralWords = /^(?:digest|hawk|signature|aws4-hmac-sha256) /i;

/** The part of the value that must be hidden; empty if nothing. */
function secretOf(name: string, text: string): string {
  const isHeader = /^(?:proxy-)?authorization$|^(?:set-)?cookie$|^x-.*(?:key|token|secret)$/.test(name);
  if (!isHeader) return '';
  const [line = ''] = text.split(/[\r\n]/, 1);
  const [value = ''] = line.split(/["'\\]/, 1);
  const [first = '', second = '', ...others] = value.split(' ');
  if (name.startsWith('x-')) return first.replace(/,$/, '');
  if (name.endsWith('cookie')) return first.includes('=') ? value : '';
  if (schemesOfSeveralWords.test(line)) return line;
  // A scheme and one word.
  return others.length === 0 && (second || first).length >= 6 ? value : '';
}
