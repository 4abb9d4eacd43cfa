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
import type { Storage } from '../../storage/storage.ts';
import type { UserPrincipal } from '../principal.ts';
import { askedQuestion } from '../questions.ts';
import type { Question } from '../questions.ts';
import { createRecordRefusal } from '../record-refusal.ts';
import type { SlackLinks } from './links.ts';

export type FoundAsked =
  | { kind: 'not-linked' }
  | { kind: 'unknown' }
  | { kind: 'somebody-elses' }
  | OwnQuestion;

export interface OwnQuestion {
  kind: 'own';
  question: Question;
  isAboutAccount: boolean;
  principal: UserPrincipal;
}

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
  const { user } = person;
  const principal: UserPrincipal = { kind: 'user', tenant, user };
  const asked = await askedQuestion(storage, principal, elicitationId);
  switch (asked.kind) {
    case 'own':
      return { ...asked, principal };
    case 'unknown':
      return { kind: 'unknown' };
    case 'somebody-elses': {
      // Of another tenant: nothing is said of it, not even that it is there.
      if (asked.tenant !== tenant) return { kind: 'unknown' };
      const detail = 'another user, in Slack';
      await createRecordRefusal(storage.audit)({ tenant, elicitationId, actor: user, detail, address });
      return { kind: 'somebody-elses' };
    }
    default:
      return asked satisfies never;
  }
}

export const refusalWords = {
  'not-linked': 'I do not know who you are yet. Connect your account first: `/interlude link`.',
  unknown: 'There is no such question any more.',
  'somebody-elses': 'This is for somebody else: only whoever was asked can answer it.',
} satisfies Record<Exclude<FoundAsked['kind'], 'own'>, string>;

export function modalPartsOf(
  config: AskedParts['config'],
  { question: { id, request, deadline }, isAboutAccount }: OwnQuestion,
): ModalParts {
  return {
    question: { id, request, deadline, isAboutAccount },
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
