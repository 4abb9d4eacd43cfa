/** A browser as far as the pages need one: cookies, redirects, plain forms. One instance is one person's window. */
export interface Shown {
  url: string;
  status: number;
  text: string;
  headers: Headers;
  /** Where each redirect on the way here led. */
  trail: string[];
}

export class Browser {
  /** As in `Accept-Language`. */
  readonly languages: string;
  readonly cookies = new Map<string, string>();
  readonly #paths = new Map<string, string>();

  constructor(languages = 'en') {
    this.languages = languages;
  }

  /** Takes over some of another browser's cookies. */
  adopt(other: Browser, wanted: (cookie: string) => boolean): void {
    for (const [key, value] of other.cookies) {
      if (!wanted(key)) continue;
      this.cookies.set(key, value);
      this.#paths.set(key, other.#paths.get(key) ?? '/');
    }
  }

  open(url: string): Promise<Shown> {
    return this.#load(url, { method: 'GET' });
  }

  /** Presses a button of the page's form: its hidden fields go along, as does the origin of the page. */
  press(page: Shown, button: Record<string, string>, changes: Record<string, string> = {}): Promise<Shown> {
    const [, action = ''] = /<form method="post" action="([^"]+)"/.exec(page.text) ?? [];
    const fields = { ...hiddenFields(page.text), ...button, ...changes };
    return this.post(new URL(action, page.url).href, fields, new URL(page.url).origin);
  }

  post(url: string, fields: Record<string, string>, origin?: string): Promise<Shown> {
    const headers = origin === undefined ? undefined : { origin };
    return this.#load(url, {
      method: 'POST',
      body: new URLSearchParams(fields),
      ...(headers && { headers }),
    });
  }

  /** Any request, with this browser's cookies. */
  send(url: string, init: RequestInit): Promise<Shown> {
    return this.#load(url, init);
  }

  /** Follows redirects; stops in front of an address that begins with `stopAt`. */
  async #load(first: string, init: RequestInit, stopAt?: string): Promise<Shown> {
    const trail: string[] = [];
    let [url, options] = [first, init];
    for (let hop = 0; hop < 15; hop++) {
      const headers = new Headers(options.headers);
      headers.set('cookie', this.#cookiesFor(url));
      headers.set('accept-language', this.languages);
      const response = await fetch(url, { ...options, headers, redirect: 'manual' });
      this.#keep(response.headers.getSetCookie());
      const text = await response.text();
      const location = response.headers.get('location');
      if (location === null) return { url, status: response.status, text, headers: response.headers, trail };
      url = new URL(location, url).href;
      options = { method: 'GET' };
      trail.push(url);
      if (stopAt !== undefined && url.startsWith(stopAt)) {
        return { url, status: response.status, text: '', headers: response.headers, trail };
      }
    }
    throw new Error(`too many redirects: ${trail.join(' → ')}`);
  }

  /** Opens an address and stops where it would lead to `stopAt`, without going there. */
  until(url: string, stopAt: string): Promise<Shown> {
    return this.#load(url, { method: 'GET' }, stopAt);
  }

  #cookiesFor(url: string): string {
    const { pathname } = new URL(url);
    const sent = [...this.cookies].filter(([name]) => pathname.startsWith(this.#paths.get(name) ?? '/'));
    return sent.map(([name, value]) => `${name.split(' ', 1)[0]}=${value}`).join('; ');
  }

  /** Browsers share cookies between the ports of a host, and so does this one. */
  #keep(lines: string[]): void {
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /; *path=([^;]+)/i.exec(line)?.[1] ?? '/';
      // The same name under two paths is two cookies.
      const key = path === '/' ? name : `${name} ${path}`;
      if (value === '' || /expires=thu, 01 jan 1970/i.test(line) || /max-age=0/i.test(line))
        this.cookies.delete(key);
      else {
        this.cookies.set(key, value);
        this.#paths.set(key, path);
      }
    }
  }
}

export function hiddenFields(text: string): Record<string, string> {
  const [, form = ''] = /<form method="post"[^>]*>(.*?)<\/form>/s.exec(text) ?? [];
  const fields = form.matchAll(/<input\s+type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, unescaped(value)]));
}

/** An attribute's value, as the browser reads it. */
export function unescaped(text: string): string {
  const entities: Record<string, string> = {
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&amp;': '&',
  };
  return text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity);
}

/** The words a person reads, without markup. */
export function words(page: Shown): string {
  return page.text
    .replace(/<style>.*?<\/style>/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Where the page that leads to the provider leads to. */
export function onward(page: Pick<Shown, 'text'>): string {
  const [, url = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(page.text) ?? [];
  return unescaped(url);
}
