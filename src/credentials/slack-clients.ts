/** The workspaces in which the Slack app is installed, each with a client that acts as its bot. */
import { languageOf } from '@interlude-ai/core/elicitation/language.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { createSlackClient } from '../remote/slack.ts';
import type { WebClient } from '../remote/slack.ts';
import type { SlackInstallation } from '../storage/tables/slack.ts';
import type { Storage } from '../storage/storage.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import type { KeyRing } from './sealing/key-ring.ts';
import { slackTokenContext } from './sealing/sealed-values.ts';

export interface SlackWorkspace extends Omit<SlackInstallation, 'sealed'> {
  client: WebClient;
  /** Of a person, by their settings in Slack. English if Slack does not say. */
  languageOf(slackUser: string): Promise<Language>;
}

export interface SlackClients {
  /** Null: the app is not installed there. */
  of(team: string): Promise<SlackWorkspace | null>;
}

interface Parts {
  storage: Pick<Storage, 'slack'>;
  keys: Pick<KeyRing, 'open'>;
  apiUrl: string;
}

/** How long a person's language is not asked for again; `unknownMs` if Slack did not say. */
const knownMs = 60 * 60 * 1000;
const unknownMs = 60 * 1000;
/** A person waits for what is said in it. */
const answerWithinMs = 1_000;
const mostKnown = 10_000;

export function createSlackClients({ storage, keys, apiUrl }: Parts): SlackClients {
  /** By workspace and person. */
  const languages = new Map<string, { language: Promise<Language>; until: number }>();

  function languageIn(team: string, client: WebClient, slackUser: string): Promise<Language> {
    const key = `${team}/${slackUser}`;
    const known = languages.get(key);
    if (known && known.until > Date.now()) return known.language;
    const locale = localeOf(client, slackUser);
    const language = locale.then((tag) => languageOf(tag ?? ''));
    const entry = { language, until: Date.now() + knownMs };
    void locale.then((tag) => tag ?? (entry.until = Date.now() + unknownMs));
    if (languages.size >= mostKnown) languages.clear();
    languages.set(key, entry);
    return language;
  }

  return {
    async of(team) {
      const installation = await storage.slack.installations.get(team);
      if (!installation) return null;
      const { sealed, ...workspace } = installation;
      const client = createSlackClient(apiUrl, keys.open(sealed, slackTokenContext(team)));
      return { ...workspace, client, languageOf: (slackUser) => languageIn(team, client, slackUser) };
    },
  };
}

async function localeOf(client: WebClient, slackUser: string): Promise<string | null> {
  try {
    const asked = client.users.info({ user: slackUser, include_locale: true });
    const answer = await withTimeout(asked, answerWithinMs, null, { ref: false });
    return answer?.user?.locale ?? null;
  } catch {
    return null;
  }
}
