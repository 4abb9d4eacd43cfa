/** Buttons below a question. Only the person it was put to gets further than a word that nobody else sees. */
import type { Config } from '../../config/config.ts';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import { answerAddress } from '../../elicitation/account-pages.ts';
import { linkModal } from '../../slack/blocks/link-modal.ts';
import { askerOf, questionActions } from '../../slack/blocks/question-message.ts';
import { troubleOf } from '../../slack/client.ts';
import type { ElicitationRow } from '../../storage/ports/elicitations.ts';
import type { LinkedPerson } from '../../storage/ports/slack.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AnswerQuestion } from '../answer-question.ts';
import { ServiceError } from '../service-error.ts';
import { notLinked } from './commands.ts';
import type { SlackLinks } from './links.ts';
import { notify } from './notice.ts';

export interface SlackClick {
  action: string;
  /** Whatever the button says. */
  elicitationId: string;
  slackUser: string;
  channel: string;
  threadTs: string | null;
  triggerId: string;
  address: string | null;
}

interface Parts {
  storage: Pick<Storage, 'elicitations'>;
  config: Pick<Config, 'http'>;
  links: Pick<SlackLinks, 'linked'>;
  answerQuestion: AnswerQuestion;
}

export type HandleClick = (workspace: SlackWorkspace, click: SlackClick) => Promise<void>;

export function createClicks({ storage, config, links, answerQuestion }: Parts): HandleClick {
  return async (workspace, click) => {
    const { slackUser, channel, threadTs, elicitationId, triggerId, address } = click;
    const place = { channel, threadTs, slackUser, isDirect: channel.startsWith('D') };
    const say = (words: string) => notify(workspace, place, words);
    const person = await links.linked({ team: workspace.team, slackUser });
    if (person?.tenant !== workspace.tenant) return void (await say(notLinked));
    const row = await storage.elicitations.get(elicitationId);
    if (!row || row.tenant !== person.tenant) return void (await say('There is no such question any more.'));
    if (row.user !== person.user)
      return void (await say('This is for somebody else: only whoever was asked can answer it.'));
    if (row.status !== 'pending') return void (await say('This question is settled already.'));

    switch (click.action) {
      case questionActions.look: {
        const page = answerAddress(config.http.publicUrl, row.id);
        if (!(await open(workspace, triggerId, row, page)))
          await say(`You answer it on this page, signed in as yourself: ${page}`);
        return;
      }
      case questionActions.decline:
        await say(await decline(answerQuestion, person, { row, address }));
        return;
      default:
    }
  };
}

/** False: too late for Slack, which wants it within three seconds. */
async function open(
  { client }: SlackWorkspace,
  triggerId: string,
  { request }: ElicitationRow,
  address: string,
): Promise<boolean> {
  const asker = askerOf(request);
  try {
    await client.views.open({
      trigger_id: triggerId,
      view: linkModal({ asker, message: request.message, address }),
    });
    return true;
  } catch (error) {
    if (troubleOf(error).kind === 'refused') return false;
    throw error;
  }
}

async function decline(
  answerQuestion: AnswerQuestion,
  { tenant, user }: LinkedPerson,
  { row, address }: { row: ElicitationRow; address: string | null },
): Promise<string> {
  const principal = { kind: 'user', tenant, user } as const;
  const response = { action: 'decline' } as const;
  try {
    await answerQuestion(principal, { elicitationId: row.id, response, address });
    return 'Noted: not now.';
  } catch (error) {
    if (error instanceof ServiceError) return 'This question is settled already.';
    throw error;
  }
}
