import { describe, expect, test } from 'vitest';
import { inspectUrl, isSafeToOpen } from '../../src/elicitation/url-safety.ts';
import { processorMs } from '../../../../test/processor-ms.ts';

describe('a link may be shown', () => {
  const cases: [url: string, host: string, warnings: string[]][] = [
    ['https://example.com', 'example.com', []],
    ['https://Example.com:8443/pay?id=1#now', 'example.com:8443', []],
    ['HTTPS://example.com/', 'example.com', []],
    ['https://example.com/a@b?c=d@e', 'example.com', []],
    ['http://example.com/', 'example.com', ['plain_http']],
    ['http://localhost:3000/x', 'localhost:3000', []],
    ['http://pay.localhost/', 'pay.localhost', []],
    ['http://localhost.example.com/', 'localhost.example.com', ['plain_http']],
    ['http://127.0.0.1:3000/', '127.0.0.1:3000', ['ip_host']],
    ['http://127.1/', '127.0.0.1', ['ip_host']],
    ['http://[::1]:3000/', '[::1]:3000', ['ip_host']],
    ['http://127.0.0.1.example.com/', '127.0.0.1.example.com', ['plain_http']],
    ['https://10.0.0.1/', '10.0.0.1', ['ip_host']],
    ['http://10.0.0.1/', '10.0.0.1', ['ip_host', 'plain_http']],
    ['https://2130706433/', '127.0.0.1', ['ip_host']],
    ['https://0x7f.0.0.1/', '127.0.0.1', ['ip_host']],
    ['https://[2001:db8::1]/', '[2001:db8::1]', ['ip_host']],
    ['https://bank.example@evil.example/', 'evil.example', ['userinfo']],
    ['https://@evil.example/', 'evil.example', ['userinfo']],
    ['https://xn--pypal-4ve.com/', 'xn--pypal-4ve.com', ['punycode']],
    ['https://pаypal.com/', 'xn--pypal-4ve.com', ['punycode']],
    ['https://www.bücher.example/', 'www.xn--bcher-kva.example', ['punycode']],
    ['https://example.com/xn--path', 'example.com', []],
    ['http://you@xn--bcher-kva.example', 'xn--bcher-kva.example', ['userinfo', 'punycode', 'plain_http']],
  ];
  test.each(cases)('%s goes to %s, with the warnings %j', (url, host, warnings) => {
    expect(inspectUrl(url)).toEqual({ kind: 'ok', host, warnings });
  });
});

describe('a link is refused', () => {
  const cases: [what: string, url: string, reason: RegExp][] = [
    ['that is a script', 'javascript:alert(1)', /http or https/],
    ['that is a script in capitals', 'JavaScript://example.com/%0aalert(1)', /http or https/],
    ['that is data', 'data:text/html,<script>', /http or https/],
    ['to a file', 'file:///etc/passwd', /http or https/],
    ['to an app', 'slack://open', /http or https/],
    ['that is relative', '/pay', /http or https/],
    ['without slashes', 'https:example.com', /http or https/],
    ['with a slash too many', 'https:///example.com', /http or https/],
    ['that is empty', '', /http or https/],
    ['without a host', 'https://', /http or https/],
    ['with a password', 'https://alice:secret@example.com/', /password/],
    ['with nothing but a password', 'https://:secret@example.com/', /password/],
    ['with a port that does not exist', 'https://example.com:99999/', /cannot be read/],
    ['with a host that cannot be', 'https://exa mple.com/', /percent-encoded/],
    ['with brackets around nothing', 'https://[]/', /cannot be read/],
    ['that reads otherwise than it looks: a backslash', 'https://good.example\\@evil.example', /percent-enc/],
    ['that reads otherwise than it looks: a tab', 'https://good.example\t.evil.example', /percent-encoded/],
    ['that begins with a space', ' https://example.com', /percent-encoded/],
    ['that ends with a line', 'https://example.com\n', /percent-encoded/],
    ['that turns its words around', 'https://example.com/\u202Egpj.exe', /percent-encoded/],
    ['with a mark that nobody sees', 'https://exam\u200Bple.com/', /percent-encoded/],
    ['longer than anybody reads', `https://example.com/${'a'.repeat(8192)}`, /longer than 8192/],
  ];
  test.each(cases)('%s', (_what, url, reason) => {
    const inspected = inspectUrl(url);
    expect(inspected).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
    expect(JSON.stringify(inspected)).not.toContain('secret');
  });

  test('of 10 MB at once', () => {
    const url = `https://${'a@'.repeat(5_000_000)}`;
    const tookMs = processorMs(() => expect(inspectUrl(url).kind).toBe('refused'));
    // Where each sign is compared with all others it takes hours.
    expect(tookMs).toBeLessThan(1_000);
  });
});

test.each([
  ['https://example.com/x', true],
  ['http://localhost:3000/x', true],
  ['http://127.0.0.1/x', true],
  ['http://[::1]:3000/x', true],
  ['http://example.com/x', false],
  ['http://localhost.example.com/x', false],
  ['http://10.0.0.1/x', false],
  ['vscode://localhost/x', false],
  ['vscode:x', false],
  ['ms-msdt://127.0.0.1/x', false],
  ['file://localhost/etc/passwd', false],
  ['javascript:alert(1)', false],
  ['localhost:3000', false],
  ['', false],
])('%s may be opened: %s', (url, isSafe) => {
  expect(isSafeToOpen(url)).toBe(isSafe);
});
