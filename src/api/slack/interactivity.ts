/** What people press and send in Slack, begun at once: Slack waits for nobody. What fails is logged. */
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { createClicks } from './clicks.ts';
import type { SlackClick } from './clicks.ts';
import type { SlackContext } from './context.ts';
import { publishHome } from './home.ts';
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

export function createInteractivity(context: SlackContext): SlackInteractivity {
  const { slack, logger } = context;
  const atWork = new Set<Promise<void>>();
  const begin = (what: string, work: Promise<unknown>) => {
    const ended = work
      .then(() => undefined)
      .catch((err: unknown) => logger.warn({ err, what }, 'Slack: an interaction could not be handled'))
      .finally(() => atWork.delete(ended));
    atWork.add(ended);
  };
  const onAnswered = (workspace: SlackWorkspace, slackUser: string) =>
    begin('home', publishHome(context, workspace, slackUser));
  const clicks = createClicks({ ...context, onAnswered });
  const submissions = createSubmissions({ ...context, onAnswered }, (work) => begin('submission', work));

  return {
    click(team, click) {
      begin(
        click.action,
        slack.workspaces.of(team).then((workspace) => workspace && clicks(workspace, click)),
      );
    },
    async submit(team, submission) {
      const workspace = await slack.workspaces.of(team);
      return workspace ? submissions(workspace, submission) : undefined;
    },
    async idle() {
      // What ends may have begun more.
      while (atWork.size > 0) await Promise.all(atWork);
    },
  };
}
