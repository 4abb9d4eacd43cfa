/**
 * A question as somebody in Slack asks for it: only the person it was put to, linked in that workspace, gets it. Whoever
 * else is linked and tries enters the audit.
 */
import type { Config } from '../../config/config.ts';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import { answerAddress } from '../../elicitation/account-pages.ts';
import { whoAsks } from '../../elicitation/asker.ts';
import type { ElicitationRequest } from '../../elicitation/elicitation.ts';
import type { ModalParts } from '../../slack/blocks/question-modal.ts';
import type { ElicitationRow } from '../../storage/ports/elicitations.ts';
import type { Storage } from '../../storage/storage.ts';
import type { UserPrincipal } from '../principal.ts';
import type { SlackLinks } from './links.ts';

export type FoundAsked =
  | { kind: 'not-linked' }
  | { kind: 'unknown' }
  | { kind: 'somebody-elses' }
  | { kind: 'own'; row: ElicitationRow; principal: UserPrincipal };

export interface AskedParts {
  storage: Pick<Storage, 'elicitations' | 'audit' | 'slack'>;
  config: Pick<Config, 'http' | 'agents'>;
  links: Pick<SlackLinks, 'linked'>;
}

export interface Asking {
  /** Whatever a button or a window says. */
  elicitationId: string;
  slackUser: string;
  address: string | null;
}

export async function findAsked(
  { storage, links }: AskedParts,
  { team, tenant }: SlackWorkspace,
  { slackUser, elicitationId, address }: Asking,
): Promise<FoundAsked> {
  const person = await links.linked({ team, slackUser });
  if (person?.tenant !== tenant) return { kind: 'not-linked' };
  const row = await storage.elicitations.get(elicitationId);
  if (!row || row.tenant !== tenant) return { kind: 'unknown' };
  if (row.user !== person.user) {
    await storage.audit.record({
      at: Date.now(),
      tenant,
      elicitationId,
      actor: person.user,
      action: 'refused',
      detail: 'another user, in Slack',
      address,
    });
    return { kind: 'somebody-elses' };
  }
  return { kind: 'own', row, principal: { kind: 'user', tenant, user: person.user } };
}

export const refusalWords = {
  'not-linked': 'I do not know who you are yet. Connect your account first: `/interlude link`.',
  unknown: 'There is no such question any more.',
  'somebody-elses': 'This is for somebody else: only whoever was asked can answer it.',
} satisfies Record<Exclude<FoundAsked['kind'], 'own'>, string>;

export function modalPartsOf(
  config: AskedParts['config'],
  { id, request, deadline, server }: ElicitationRow,
): ModalParts {
  return {
    question: { id, request, deadline, isAboutAccount: server !== null },
    askedBy: titlesOfAskers(config, request),
    page: answerAddress(config.http.publicUrl, id),
  };
}

/** The agent, then those it delegated to, as people know them. */
export function titlesOfAskers(
  { agents }: Pick<Config, 'agents'>,
  { context }: Pick<ElicitationRequest, 'context'>,
): string[] {
  return whoAsks(context).map((agent) => agents.get(agent)?.title ?? agent);
}
