/**
 * Nango's own client library, loaded when a server keeps its accounts there and not before: it is an optional
 * dependency with a licence of its own. As it comes it waits for ever, follows redirects and reads answers of any size.
 */
import type { Nango } from '@nangohq/node';
import type { NangoConfig } from '../../config/config.ts';

export async function loadNangoSdk() {
  try {
    return await import('@nangohq/node');
  } catch (error) {
    const words = 'A server keeps its accounts at Nango, but @nangohq/node is missing; install it (npm ci)';
    throw new Error(`${words}.`, { cause: error });
  }
}

export async function connectToNango(
  { host, apiKey }: Pick<NangoConfig, 'host' | 'apiKey'>,
  timeoutMs: number,
): Promise<Nango> {
  const { Nango: Client } = await loadNangoSdk();
  const nango = new Client(
    { host, apiKey },
    {
      interceptors: {
        // From the first byte asked to the last one read, which the library's own timeout does not cover.
        request: (request) => Object.assign(request, { signal: AbortSignal.timeout(timeoutMs) }),
      },
    },
  );
  Object.assign(nango.http.defaults, { timeout: timeoutMs, maxRedirects: 0, maxContentLength: 2_097_152 });
  return nango;
}
