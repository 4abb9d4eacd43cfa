/** A person's way through Nango and the provider without a browser, step by step, so that a test can stop anywhere. */
import type { PersonName } from './account-provider.ts';

interface AtProvider {
  /** The provider's page, which a person could forward to another. */
  url: string;
  /** Nango's cookie of the browser that it began in. */
  cookie: string;
}

interface Outcome {
  status: number;
  /** What Nango's last page says. */
  text: string;
}

/** From the page that leads there (a connect page's link with a session token). */
export async function goToProvider(pageUrl: string): Promise<AtProvider> {
  const response = await fetch(pageUrl, { redirect: 'manual' });
  const url = response.headers.get('location');
  if (url === null) throw new Error(`Nango leads nowhere: ${response.status} ${await response.text()}`);
  await response.body?.cancel();
  return { url, cookie: response.headers.getSetCookie().join('; ') };
}

/** Returns the callback that the provider redirects to, without opening it. */
export async function decide({ url }: AtProvider, person: PersonName | 'nobody' = 'alice'): Promise<string> {
  const { origin, searchParams } = new URL(url);
  const form = new URLSearchParams(searchParams);
  form.set('person', person);
  form.set('decision', person === 'nobody' ? 'deny' : 'allow');
  const response = await fetch(`${origin}/authorize`, { method: 'POST', body: form, redirect: 'manual' });
  const callback = response.headers.get('location');
  if (callback === null) throw new Error(`The provider leads nowhere: ${response.status}`);
  await response.body?.cancel();
  return callback;
}

export async function comeBack(callback: string, { cookie }: Pick<AtProvider, 'cookie'>): Promise<Outcome> {
  const response = await fetch(callback, { headers: { cookie }, redirect: 'manual' });
  const text = (await response.text()).replaceAll(/<script>.*?<\/script>|<[^>]+>/g, ' ').trim();
  return { status: response.status, text };
}

/** The whole way at once. `nobody` denies. */
export async function walkThrough(pageUrl: string, person?: PersonName | 'nobody'): Promise<Outcome> {
  const there = await goToProvider(pageUrl);
  return comeBack(await decide(there, person), there);
}

/** The page that a session token leads to. */
export function connectPage(host: string, integration: string, token: string): string {
  return `${host}/oauth/connect/${integration}?connect_session_token=${token}`;
}
