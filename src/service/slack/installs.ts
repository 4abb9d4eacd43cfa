/** The workspaces in which the app is installed, by the environment or by an operator. */
import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import type { SlackConfig } from '../../platform/config/config.ts';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { slackTokenContext } from '../../credentials/sealing/sealed-values.ts';
import { createSlackClient, deadTokenCodes, troubleOf } from '../../remote/slack.ts';
import type { SlackInstallation } from '../../storage/tables/slack.ts';
import type { Storage } from '../../storage/storage.ts';
import type { UserPrincipal } from '../principal.ts';
import { digestOf } from './links.ts';

export type InstallOutcome =
  | { kind: 'installed'; teamName: string }
  | { kind: 'used-state' }
  /** It belongs to another tenant. */
  | { kind: 'taken' }
  /** It is for a whole organisation, which is not supported. */
  | { kind: 'not-one-workspace' }
  | { kind: 'refused'; code: string };

interface Parts {
  storage: Storage;
  keys: Pick<KeyRing, 'seal'>;
  slack: SlackConfig;
  logger: Logger;
}

const stateLifeMs = 10 * 60 * 1000;
const againMs = 10_000;

export function createSlackInstalls({ storage, keys, slack, logger }: Parts) {
  const { installations, tickets } = storage.slack;
  const closing = new AbortController();
  let isReady = slack.bot === undefined;
  let installing: Promise<void> = Promise.resolve();

  const put = ({ token, ...installation }: Omit<SlackInstallation, 'sealed'> & { token: string }) =>
    installations.put({ ...installation, sealed: keys.seal(token, slackTokenContext(installation.team)) });

  async function installFromEnvironment({ token, tenant }: { token: string; tenant: string }) {
    const {
      team_id: team,
      team: name,
      user_id: botUser,
    } = await createSlackClient(slack.apiUrl, token).auth.test();
    if (team === undefined || botUser === undefined) throw new Error('Slack does not say whose token it is');
    await put({ team, teamName: name ?? team, tenant, botUser, scopes: '', installedBy: null, token });
    isReady = true;
    logger.info({ team, tenant }, 'Slack: the app is connected to its workspace');
  }

  async function keepTrying(bot: { token: string; tenant: string }): Promise<void> {
    while (!isReady && !closing.signal.aborted) {
      try {
        await installFromEnvironment(bot);
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble.kind === 'refused')
          logger.error(
            `Slack refuses SLACK_BOT_TOKEN (${trouble.code}): check it, and that the app is installed`,
          );
        else
          logger.warn(
            { err: error },
            'the workspace of SLACK_BOT_TOKEN is not known yet; Slack is asked again',
          );
        await sleep(againMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  return {
    /** A single-use state for the way to Slack and back. */
    async begin(): Promise<string> {
      const state = randomBytes(32).toString('base64url');
      const expiresAt = Date.now() + stateLifeMs;
      await tickets.issue({
        digest: digestOf(state),
        purpose: 'install',
        team: '',
        slackUser: '',
        expiresAt,
      });
      return state;
    },
    /** Exchanges what the browser brings back from Slack. `address`: for the audit. */
    async complete(
      {
        state,
        code,
        redirectUri,
        address,
      }: { state: string; code: string; redirectUri: string; address: string },
      { tenant, user }: UserPrincipal,
    ): Promise<InstallOutcome> {
      if (!slack.client || !(await tickets.use(digestOf(state)))) return { kind: 'used-state' };
      const answer = await exchange(slack.apiUrl, slack.client, { code, redirectUri });
      if ('refusal' in answer) return { kind: 'refused', code: answer.refusal };
      const { access_token: token, bot_user_id: botUser, team } = answer.given;
      const { scope = '', is_enterprise_install: isWhole } = answer.given;
      if (isWhole === true || team?.id === undefined || token === undefined || botUser === undefined)
        return { kind: 'not-one-workspace' };
      const known = await installations.get(team.id);
      if (known && known.tenant !== tenant) return { kind: 'taken' };
      const teamName = team.name ?? team.id;
      await put({ team: team.id, teamName, tenant, botUser, scopes: scope, installedBy: user, token });
      await storage.audit.record({
        at: Date.now(),
        tenant,
        elicitationId: '',
        actor: user,
        action: 'connected',
        detail: `Slack workspace ${team.id}`,
        address,
      });
      return { kind: 'installed', teamName };
    },
    /** The app's bot user in the workspace; null: it is not installed there. */
    async botUserOf(team: string): Promise<string | null> {
      return (await installations.get(team))?.botUser ?? null;
    },
    /** Asks Slack whether the app is still installed there; if not, forgets the workspace. */
    async check({ team, tenant, client }: SlackWorkspace): Promise<void> {
      const trouble = await client.auth.test().then(() => null, troubleOf);
      // It was installed again since, or the result is uncertain.
      if (trouble?.kind !== 'refused' || !deadTokenCodes.has(trouble.code)) return;
      await installations.remove(team);
      logger.info({ team, tenant, code: trouble.code }, 'the Slack app is no longer installed there');
    },
    /** Whether the environment's installation is complete, if there is one. */
    isReady: (): boolean => isReady,
    start(): void {
      if (slack.bot) installing = keepTrying(slack.bot);
    },
    async close(): Promise<void> {
      closing.abort();
      await installing;
    },
  };
}

async function exchange(
  apiUrl: string,
  { id, secret }: { id: string; secret: string },
  { code, redirectUri }: { code: string; redirectUri: string },
) {
  try {
    const given = await createSlackClient(apiUrl).oauth.v2.access({
      client_id: id,
      client_secret: secret,
      code,
      redirect_uri: redirectUri,
    });
    return { given };
  } catch (error) {
    const trouble = troubleOf(error);
    return { refusal: trouble.kind === 'refused' ? trouble.code : 'unavailable' };
  }
}
