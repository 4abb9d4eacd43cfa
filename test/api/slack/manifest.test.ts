/** The manifest in the docs, which people paste into Slack: it asks for what the app uses, at the addresses that there are. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { botScopes } from '../../../src/api/pages/slack/install-routes.ts';

interface Manifest {
  oauth_config: { redirect_urls: string[]; scopes: { bot: string[] } };
  features: { app_home: Record<string, boolean> };
  settings: {
    event_subscriptions: { bot_events: string[] };
    interactivity: { is_enabled: boolean; request_url: string };
  };
}

const docs = readFileSync(path.join(import.meta.dirname, '../../../docs/slack.md'), 'utf8');
const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(docs) ?? [];

test('the manifest has the scopes that an installation asks for, and the events that are handled', () => {
  const { oauth_config: oauth, settings, features } = parse(yaml) as Manifest;
  expect(oauth.scopes.bot).toEqual(botScopes);
  expect(oauth.redirect_urls.map((url) => new URL(url).pathname)).toEqual([
    '/slack/oauth/callback',
    '/slack/link/callback',
  ]);
  expect(settings.event_subscriptions.bot_events).toEqual(
    expect.arrayContaining([
      'agent_session_stopped',
      'app_home_opened',
      'app_mention',
      'message.im',
      'app_uninstalled',
      'tokens_revoked',
    ]),
  );
  expect(settings.interactivity).toMatchObject({ is_enabled: true });
  expect(new URL(settings.interactivity.request_url).pathname).toBe('/slack/interactivity');
  expect(features.app_home).toMatchObject({ home_tab_enabled: true });
  for (const scope of botScopes) expect(docs).toContain(`\`${scope}\``);
});
