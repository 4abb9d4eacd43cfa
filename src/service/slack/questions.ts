/**
 * A question that a Slack user asks for. Only the linked person who was asked gets it; attempts of other linked users are
 * audited.
 */
import type { Storage } from '../../storage/storage.ts';
import type { UserPrincipal } from '../principal.ts';
import { askedQuestion } from '../questions.ts';
import type { AskedQuestion } from '../questions.ts';
import { createRecordRefusal } from '../authenticate.ts';
import type { SlackLinks } from './links.ts';

type FoundAsked = { kind: 'not-linked' } | { kind: 'unknown' } | { kind: 'not-yours' } | OwnQuestion;

export type OwnQuestion = AskedQuestion & { kind: 'own' } & { principal: UserPrincipal };

export interface Asking {
  /** From a button or a window, not validated. */
  elicitationId: string;
  slackUser: string;
  address: string | null;
}

interface Parts {
  storage: Storage;
  links: Pick<SlackLinks, 'principalOf'>;
}

export function createSlackQuestions({ storage, links }: Parts) {
  const recordRefusal = createRecordRefusal(storage.audit);
  return {
    async find(
      { team, tenant }: { team: string; tenant: string },
      { slackUser, elicitationId, address }: Asking,
    ): Promise<FoundAsked> {
      const principal = await links.principalOf({ team, slackUser }, tenant);
      if (!principal) return { kind: 'not-linked' };
      const asked = await askedQuestion(storage, principal, elicitationId);
      switch (asked.kind) {
        case 'own':
          return { ...asked, principal };
        case 'unknown':
          return asked;
        case 'not-yours': {
          // A question of another tenant does not exist here.
          if (asked.tenant !== tenant) return { kind: 'unknown' };
          const detail = 'another user, in Slack';
          await recordRefusal({ tenant, elicitationId, actor: principal.user, detail, address });
          return { kind: 'not-yours' };
        }
        default:
          return asked satisfies never;
      }
    },
    /** Slack has sent the person to the question's page, so its settlement there does not count as elsewhere. */
    recordPageOpenedFromSlack: (
      { question, principal }: OwnQuestion,
      address: string | null,
    ): Promise<void> =>
      storage.audit.record({
        at: Date.now(),
        tenant: principal.tenant,
        elicitationId: question.id,
        actor: principal.user,
        action: 'opened',
        detail: 'in Slack, on its page',
        address,
      }),
    /** Settled neither in Slack nor on the page to which Slack had sent the person. */
    wasSettledElsewhere: (elicitationId: string): Promise<boolean> =>
      storage.slack.questions.wasSettledElsewhere(elicitationId),
  };
}
