/** What people press and send in Slack, begun at once: Slack waits for nobody. What fails is logged. */
import type { Logger } from 'pino';
import type { SlackClients, SlackWorkspace } from '../../credentials/slack-clients.ts';
import type { AnswerQuestion } from '../answer-question.ts';
import { createClicks } from './clicks.ts';
import type { SlackClick } from './clicks.ts';
import { publishHome } from './home.ts';
import type { HomeService } from './home.ts';
import type { SlackLinks } from './links.ts';
import type { StopParts } from './stop.ts';
import { createSubmissions } from './submissions.ts';
import type { SlackSubmission, WindowAnswer } from './submissions.ts';

export interface SlackInteractivity {
  /** Begins what a button asks for. */
  click(team: string, click: SlackClick): void;
  /** What becomes of the window; nothing: it closes. Rejects where it may be sent again. */
  submit(team: string, submission: SlackSubmission): Promise<WindowAnswer | undefined>;
  /** Resolves when nothing is under way any more. */
  idle(): Promise<void>;
}

interface Parts extends HomeService, StopParts {
  storage: HomeService['storage'] & StopParts['storage'];
  config: HomeService['config'] & StopParts['config'];
  clients: SlackClients;
  links: Pick<SlackLinks, 'linked' | 'offer'>;
  answerQuestion: AnswerQuestion;
  logger: Logger;
}

export function createInteractivity(parts: Parts): SlackInteractivity {
  const { clients, logger } = parts;
  const atWork = new Set<Promise<void>>();
  const begin = (what: string, work: Promise<unknown>) => {
    const ended = work
      .then(() => undefined)
      .catch((err: unknown) => logger.warn({ err, what }, 'Slack: an interaction could not be handled'))
      .finally(() => atWork.delete(ended));
    atWork.add(ended);
  };
  const onAnswered = (workspace: SlackWorkspace, slackUser: string) =>
    begin('home', publishHome(parts, workspace, slackUser));
  const clicks = createClicks({ ...parts, onAnswered });
  const submissions = createSubmissions({ ...parts, onAnswered }, (work) => begin('submission', work));

  return {
    click(team, click) {
      begin(
        click.action,
        clients.of(team).then((workspace) => workspace && clicks(workspace, click)),
      );
    },
    async submit(team, submission) {
      const workspace = await clients.of(team);
      return workspace ? submissions(workspace, submission) : undefined;
    },
    async idle() {
      // What ends may have begun more.
      while (atWork.size > 0) await Promise.all(atWork);
    },
  };
}
