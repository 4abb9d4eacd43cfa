/**
 * A person's browser at a provider: follows redirects, keeps cookies, and stops at our callback. Pass the same cookies
 * again for a person who is still signed in there.
 */
export async function followRedirects(
  url: string,
  until: string,
  cookies = new Map<string, string>(),
): Promise<URL> {
  let address = url;
  for (let hop = 0; hop < 20; hop++) {
    if (address.startsWith(until)) return new URL(address);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`stuck with ${response.status}: ${await response.text()}`);
    await response.body?.cancel();
    address = new URL(location, address).href;
  }
  throw new Error('too many redirects');
}

/** The callback URL for this authorization request, with the provider's answer. */
export function callbackFor(leaving: URL, answer: Record<string, string>): URL {
  const callback = new URL(leaving.searchParams.get('redirect_uri') ?? '');
  const state = leaving.searchParams.get('state') ?? '';
  callback.search = new URLSearchParams({ state, ...answer }).toString();
  return callback;
}
