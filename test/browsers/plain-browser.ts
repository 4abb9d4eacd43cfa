/**
 * A browser without a screen: fetch, a cookie jar, redirects, and forms sent by the words on their buttons. It runs
 * no scripts, so what works with it works without JavaScript.
 */
import { parse } from 'node-html-parser';
import type { HTMLElement } from 'node-html-parser';
import { CookieJar } from 'tough-cookie';

export interface Page {
  /** Where the browser ended up, after all redirects. */
  url: URL;
  status: number;
  headers: Headers;
  html: string;
  /** The visible words, white space squeezed. */
  text: string;
  title: string;
  /** Words on the buttons, top to bottom. */
  buttons: string[];
  links: { text: string; href: string }[];
  /** Every address on the way here, this one included. */
  path: URL[];
}

export interface Browser {
  cookies: CookieJar;
  /** `stopAt`: stops before this address is asked for, where the page then has status 0. Default: that of the browser. */
  get(url: string | URL, headers?: Record<string, string>, stopAt?: StopAt): Promise<Page>;
  /** Presses the button whose words contain `button`, with the form's hidden fields and, if given, more of them. */
  press(page: Page, button: string, fields?: Record<string, string>): Promise<Page>;
  /** Follows the link whose words contain `link`. */
  click(page: Page, link: string): Promise<Page>;
  /** One request, redirects left alone. For tests that send what no page would. */
  send(url: string | URL, init?: RequestInit): Promise<Response>;
}

type StopAt = (url: URL) => boolean;

const mostRedirects = 20;

/** `stopAt`: for redirects to places that do not exist. */
export function openBrowser({ stopAt: usual = () => false }: { stopAt?: StopAt } = {}): Browser {
  const cookies = new CookieJar();

  async function send(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const cookie = await cookies.getCookieString(String(url));
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const one of response.headers.getSetCookie())
      await cookies.setCookie(one, String(url), { ignoreError: true });
    return response;
  }

  async function visit(start: URL, init: RequestInit, stopAt = usual): Promise<Page> {
    const path: URL[] = [];
    let url = start;
    let request = init;
    while (path.length <= mostRedirects) {
      path.push(url);
      if (stopAt(url)) return toPage(url, 0, new Headers(), '', path);
      const response = await send(url, request);
      const html = await response.text();
      const next = nextAddress(response, html);
      if (next === undefined) return toPage(url, response.status, response.headers, html, path);
      const keepsMethod = response.status === 307 || response.status === 308;
      if (!keepsMethod) request = {};
      url = new URL(next, url);
    }
    throw new Error(`More than ${mostRedirects} redirects, starting at ${start.origin}${start.pathname}.`);
  }

  return {
    cookies,
    send,
    get: (url, headers = {}, stopAt) => visit(new URL(url), { headers }, stopAt),
    click(page, link) {
      const found = page.links.find(({ text }) => text.includes(link));
      if (!found) throw new Error(`No link "${link}" on the page "${page.title}": ${page.text}`);
      return visit(new URL(found.href, page.url), {});
    },
    press(page, button, fields = {}) {
      const found = parse(page.html)
        .querySelectorAll('button')
        .find((one) => words(one).includes(button));
      const form = found?.closest('form');
      if (!found || !form) throw new Error(`No button "${button}" on the page "${page.title}": ${page.text}`);
      const values = new URLSearchParams();
      for (const input of form.querySelectorAll('input')) {
        values.set(input.getAttribute('name') ?? '', input.getAttribute('value') ?? '');
      }
      const name = found.getAttribute('name');
      if (name !== undefined) values.set(name, found.getAttribute('value') ?? '');
      for (const [key, value] of Object.entries(fields)) values.set(key, value);
      values.delete('');
      const action = new URL(form.getAttribute('action') ?? '', page.url);
      if (form.getAttribute('method')?.toLowerCase() !== 'post') {
        action.search = values.toString();
        return visit(action, {});
      }
      return visit(action, { method: 'POST', body: values, headers: { origin: page.url.origin } });
    },
  };
}

/** Where a response leads by itself: a redirect, or a page that says it moves on at once. */
function nextAddress(response: Response, html: string): string | undefined {
  const location = response.headers.get('location');
  if (response.status >= 300 && response.status < 400 && location !== null) return location;
  const refresh = parse(html).querySelector('meta[http-equiv="refresh" i]')?.getAttribute('content');
  return refresh === undefined ? undefined : /url=['"]?([^'"]+)/i.exec(refresh)?.[1];
}

function toPage(url: URL, status: number, headers: Headers, html: string, path: URL[]): Page {
  const root = parse(html);
  const body = root.querySelector('body') ?? root;
  return {
    url,
    status,
    headers,
    html,
    text: words(body),
    title: words(root.querySelector('title')),
    buttons: root.querySelectorAll('button').map(words),
    links: root
      .querySelectorAll('a')
      .map((link) => ({ text: words(link), href: link.getAttribute('href') ?? '' })),
    path,
  };
}

function words(element: HTMLElement | null): string {
  return (element?.structuredText ?? '').replaceAll(/\s+/g, ' ').trim();
}
