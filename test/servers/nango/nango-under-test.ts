/**
 * Nango for tests that hold for any: the double, or a real server when the environment says where one is (see
 * docs/nango.md). The provider behind it is ours either way, so that a test can allow, deny, revoke and refuse.
 */
import { onTestFinished } from 'vitest';
import type { TestContext } from 'vitest';
import { startAccountProvider } from './account-provider.ts';
import type { AccountProvider } from './account-provider.ts';
import { openNangoDouble } from './nango-double.ts';
import type { NangoDouble } from './nango-double.ts';
import type { NangoDoubleOptions } from './nango-state.ts';

/** What Nango's own client throws, reduced to what Nango said. */
export async function refusalOf(promise: Promise<unknown>) {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  const { response } = thrown as {
    response?: { status: number; headers: Record<string, string>; data: { error: Record<string, unknown> } };
  };
  if (!response) throw new Error('Nango did not refuse');
  const { status, headers, data } = response;
  return { status, headers, error: data.error };
}

export interface NangoUnderTest {
  host: string;
  apiKey: string;
  webhookSigningKey: string;
  integration: string;
  provider: AccountProvider;
  /** Where its webhooks go. A real server is configured by hand, or sends none: then only a poll finds a connection. */
  sendWebhooksTo(url: string): void;
  /** The knobs, for which a real server is skipped; `what` says in the report what it lacks. */
  knobs(context: Pick<TestContext, 'skip'>, what: string): NangoDouble;
  stop(): Promise<void>;
}

const {
  NANGO_HOST: host,
  NANGO_API_KEY: apiKey = '',
  NANGO_WEBHOOK_SIGNING_KEY: webhookSigningKey = '',
  NANGO_INTEGRATION: integration = 'tracker',
  NANGO_TEST_PROVIDER_PORT: providerPort = '3013',
  NANGO_TEST_PROVIDER_SECRET: providerSecret = 'a-secret-of-tests-only',
} = process.env;

/** Stops with the test. */
export async function nangoUnderTest(options?: NangoDoubleOptions): Promise<NangoUnderTest> {
  const nango = await openNangoUnderTest(options);
  onTestFinished(() => nango.stop());
  return nango;
}

export async function openNangoUnderTest(options: NangoDoubleOptions = {}): Promise<NangoUnderTest> {
  if (host !== undefined && host !== '') return theRealOne(host);
  const double = await openNangoDouble(options);
  return { ...double, knobs: () => double, sendWebhooksTo: (url) => void (double.webhookUrl = url) };
}

async function theRealOne(at: string): Promise<NangoUnderTest> {
  const provider = await startAccountProvider({
    port: Number(providerPort),
    clientSecret: providerSecret,
    redirectUri: () => `${at}/oauth/callback`,
    now: Date.now,
    settings: { tokenLifeMs: 3_600_000 },
  });
  return {
    host: at,
    apiKey,
    webhookSigningKey,
    integration,
    provider,
    knobs: (context, what) => context.skip(`a real Nango cannot be made to ${what}`),
    sendWebhooksTo: () => undefined,
    stop: provider.stop,
  };
}
