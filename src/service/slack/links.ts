/**
 * Who a Slack user is here. A person without a link is sent one that only they can see, once. The person who opens it, signs
 * in and confirms is linked from then on, and what they had asked continues.
 */
import { hash, randomBytes } from 'node:crypto';
import type { SlackClients } from '../../credentials/slack-clients.ts';
import { profileOf } from '../../remote/slack.ts';
import type { LinkedPerson } from '../../storage/tables/slack.ts';
import type { SlackPerson } from '../../storage/schema/slack-tables.ts';
import type { Storage } from '../../storage/storage.ts';
import type { UserPrincipal } from '../principal.ts';
import { patienceMs } from './inbox.ts';

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
  storage: Storage;
  workspaces: SlackClients;
  /** Called when events that waited for a person are due. */
  wake(): void;
}

const lifeMs = 30 * 60 * 1000;
/** A person who writes again this soon still sees the link. */
const quietMs = 60_000;

export type SlackLinks = ReturnType<typeof createSlackLinks>;

export function createSlackLinks({ storage, workspaces, wake }: Parts) {
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
    /**
     * A token for their link; null: they were just given one. With `again` always: they have asked for it, or the last one may
     * not have reached them.
     */
    async issue(person: SlackPerson, again: boolean): Promise<string | null> {
      const until = again ? null : await tickets.until(person);
      if (until !== null && until - lifeMs + quietMs > Date.now()) return null;
      const token = randomBytes(32).toString('base64url');
      const { team, slackUser } = person;
      const digest = digestOf(token);
      await tickets.issue({ team, slackUser, digest, purpose: 'link', expiresAt: Date.now() + lifeMs });
      return token;
    },
    /** It did not reach the person: the next attempt issues another. */
    async takeBack(token: string): Promise<void> {
      await tickets.use(digestOf(token));
    },
    /** Null: it was used, replaced, or is too old. */
    async find(token: string): Promise<FoundLink | null> {
      const ticket = await tickets.find(digestOf(token), 'link');
      const workspace = ticket && (await workspaces.of(ticket.team));
      if (!workspace) return null;
      const { team, slackUser } = ticket;
      const { name } = await profileOf(workspace, slackUser);
      return { token, team, slackUser, name, teamName: workspace.teamName, tenant: workspace.tenant };
    },
    /** False: it was used by another request, or is too old. */
    async accept(
      { token, team, slackUser, tenant }: FoundLink,
      principal: UserPrincipal,
      address: string,
    ): Promise<boolean> {
      if (tenant !== principal.tenant || !(await tickets.use(digestOf(token)))) return false;
      const person = { team, slackUser };
      const { user } = principal;
      const earlier = await people.get(person);
      // Threads of another user stay with that user.
      if (earlier && (earlier.user !== user || earlier.tenant !== tenant)) await people.unlink(person);
      await people.link({ ...person, tenant, user, linkedAt: Date.now() });
      await record('connected', person, principal, address);
      await events.unpark(person, Date.now() - patienceMs);
      wake();
      return true;
    },
    /** The user as which they act in a workspace of this tenant; null: they are not linked. */
    async principalOf(person: SlackPerson, tenant: string): Promise<UserPrincipal | null> {
      const linked = await people.get(person);
      return linked?.tenant === tenant ? { kind: 'user', tenant, user: linked.user } : null;
    },
    /** The Slack users that act as this user. */
    async ofUser(principal: UserPrincipal): Promise<ShownLink[]> {
      const own = await people.ofUser(principal);
      const names = new Map(
        (await installations.list(principal.tenant)).map(({ team, teamName }) => [team, teamName]),
      );
      return own.map((person) => ({ ...person, teamName: names.get(person.team) ?? person.team }));
    },
    /** Only the user's own. False: there is none. */
    async remove(person: SlackPerson, principal: UserPrincipal, address: string | null): Promise<boolean> {
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
