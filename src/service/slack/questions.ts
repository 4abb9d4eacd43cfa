/**
 * A question as somebody in Slack asks for it: only the person it was put to, linked in that workspace, gets it. Whoever
 * else is linked and tries enters the audit.
 */
import type { Storage } from '../../storage/storage.ts';
import type { UserPrincipal } from '../principal.ts';
import { askedQuestion } from '../questions.ts';
import type { AskedQuestion } from '../questions.ts';
import { createRecordRefusal } from '../record-refusal.ts';
import type { SlackLinks } from './links.ts';

export type FoundAsked =
  | { kind: 'not-linked' }
  | { kind: 'unknown' }
  | { kind: 'somebody-elses' }
  | OwnQuestion;

export type OwnQuestion = AskedQuestion & { kind: 'own' } & { principal: UserPrincipal };

export interface Asking {
  /** Whatever a button or a window says. */
  elicitationId: string;
  slackUser: string;
  address: string | null;
}

export interface SlackQuestions {
  find(workspace: { team: string; tenant: string }, asking: Asking): Promise<FoundAsked>;
  /** Slack has led its person to the page: what becomes of it there was then not done elsewhere. */
  noteLed(found: OwnQuestion, address: string | null): Promise<void>;
  /** Neither in Slack nor on the page that Slack had led to. */
  wasSettledElsewhere(elicitationId: string): Promise<boolean>;
}

interface Parts {
  storage: Pick<Storage, 'elicitations' | 'audit' | 'slack'>;
  links: Pick<SlackLinks, 'principalOf'>;
}

export function createSlackQuestions({ storage, links }: Parts): SlackQuestions {
  const recordRefusal = createRecordRefusal(storage.audit);
  return {
    async find({ team, tenant }, { slackUser, elicitationId, address }) {
      const principal = await links.principalOf({ team, slackUser }, tenant);
      if (!principal) return { kind: 'not-linked' };
      const asked = await askedQuestion(storage, principal, elicitationId);
      switch (asked.kind) {
        case 'own':
          return { ...asked, principal };
        case 'unknown':
          return asked;
        case 'somebody-elses': {
          // Of another tenant: nothing is said of it, not even that it is there.
          if (asked.tenant !== tenant) return { kind: 'unknown' };
          const detail = 'another user, in Slack';
          await recordRefusal({ tenant, elicitationId, actor: principal.user, detail, address });
          return { kind: 'somebody-elses' };
        }
        default:
          return asked satisfies never;
      }
    },
    noteLed: ({ question, principal }, address) =>
      storage.audit.record({
        at: Date.now(),
        tenant: principal.tenant,
        elicitationId: question.id,
        actor: principal.user,
        action: 'opened',
        detail: 'in Slack, on its page',
        address,
      }),
    wasSettledElsewhere: (elicitationId) => storage.slack.questions.wasSettledElsewhere(elicitationId),
  };
}
