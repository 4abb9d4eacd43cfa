/**
 * Who somebody in Slack is here. A person without a link is handed one that only they can see, once; whoever comes with it,
 * signed in, and says so, is that person from then on, and what they had asked goes on.
 */
import { hash, randomBytes } from 'node:crypto';
import type { SlackClients } from '../../credentials/slack-clients.ts';
import { profileOf } from '../../slack/profile.ts';
import type { LinkedPerson, SlackPerson } from '../../storage/ports/slack.ts';
import type { Storage } from '../../storage/storage.ts';
import type { UserPrincipal } from '../principal.ts';
import { patienceMs } from './inbox.ts';

export interface SlackLinks {
  /**
   * What they come back with, for their hands only; null: they were just given one. With `again` also then: they ask for
   * it, or it may not have reached them.
   */
  issue(person: SlackPerson, again: boolean): Promise<string | null>;
  /** Nobody has it: the next try hands out another. */
  takeBack(token: string): Promise<void>;
  /** Whom the link in somebody's hands is for; null: it was used, replaced, or is too old. */
  find(token: string): Promise<FoundLink | null>;
  /** False: somebody was faster, or it is too late. */
  accept(found: FoundLink, principal: UserPrincipal, address: string): Promise<boolean>;
  /** As whom they act in a workspace of this tenant; null: nobody knows. */
  principalOf(person: SlackPerson, tenant: string): Promise<UserPrincipal | null>;
  /** Everything that acts as this user, with what Slack calls it. */
  ofUser(principal: UserPrincipal): Promise<ShownLink[]>;
  /** Only one's own. False: there is none. */
  remove(person: SlackPerson, principal: UserPrincipal, address: string | null): Promise<boolean>;
}

export interface FoundLink extends SlackPerson {
  token: string;
  teamName: string;
  tenant: string;
  name: string;
}

export interface ShownLink extends LinkedPerson {
  teamName: string;
}

interface Parts {
  storage: Pick<Storage, 'slack' | 'audit'>;
  workspaces: SlackClients;
  /** What waited for a person is due. */
  wake(): void;
}

const lifeMs = 30 * 60 * 1000;
/** Who writes again so soon has the link in front of them. */
const quietMs = 60_000;

export function createSlackLinks({ storage, workspaces, wake }: Parts): SlackLinks {
  const { people, tickets, events, installations } = storage.slack;
  const record = (
    action: 'connected' | 'disconnected',
    { team, slackUser }: SlackPerson,
    { tenant, user }: Pick<UserPrincipal, 'tenant' | 'user'>,
    address: string | null,
  ) =>
    storage.audit.record({
      at: Date.now(),
      tenant,
      elicitationId: '',
      actor: user,
      action,
      detail: `Slack user ${slackUser} of ${team}`,
      address,
    });

  return {
    async issue(person, again) {
      const until = again ? null : await tickets.until(person);
      if (until !== null && until - lifeMs + quietMs > Date.now()) return null;
      const token = randomBytes(32).toString('base64url');
      const { team, slackUser } = person;
      const digest = digestOf(token);
      await tickets.issue({ team, slackUser, digest, purpose: 'link', expiresAt: Date.now() + lifeMs });
      return token;
    },
    async takeBack(token) {
      await tickets.use(digestOf(token));
    },
    async find(token) {
      const ticket = await tickets.find(digestOf(token), 'link');
      const workspace = ticket && (await workspaces.of(ticket.team));
      if (!workspace) return null;
      const { team, slackUser } = ticket;
      const { name } = await profileOf(workspace, slackUser);
      return { token, team, slackUser, name, teamName: workspace.teamName, tenant: workspace.tenant };
    },
    async accept({ token, team, slackUser, tenant }, principal, address) {
      if (tenant !== principal.tenant || !(await tickets.use(digestOf(token)))) return false;
      const person = { team, slackUser };
      const { user } = principal;
      const earlier = await people.get(person);
      // What somebody else said in Slack's threads stays theirs.
      if (earlier && (earlier.user !== user || earlier.tenant !== tenant)) await people.unlink(person);
      await people.link({ ...person, tenant, user, linkedAt: Date.now() });
      await record('connected', person, principal, address);
      await events.unpark(person, Date.now() - patienceMs);
      wake();
      return true;
    },
    async principalOf(person, tenant) {
      const linked = await people.get(person);
      return linked?.tenant === tenant ? { kind: 'user', tenant, user: linked.user } : null;
    },
    async ofUser(principal) {
      const own = await people.ofUser(principal);
      const names = new Map(
        (await installations.list(principal.tenant)).map(({ team, teamName }) => [team, teamName]),
      );
      return own.map((person) => ({ ...person, teamName: names.get(person.team) ?? person.team }));
    },
    async remove(person, principal, address) {
      const linked = await people.get(person);
      if (linked?.user !== principal.user || linked.tenant !== principal.tenant) return false;
      await people.unlink(person);
      await record('disconnected', person, principal, address);
      return true;
    },
  };
}

export function digestOf(token: string): string {
  return hash('sha256', token);
}
