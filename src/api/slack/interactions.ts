/**
 * Buttons and windows in Slack, over HTTP or the socket. Slack waits only for seconds, so the work is started and Slack answered;
 * failures are logged.
 */
import { z } from 'zod';
import { ElicitationIdSchema } from '@interlude-ai/core/contract/http.ts';
import { viewValuesSchema } from './blocks/fields.ts';
import { questionCallback } from './blocks/modals.ts';
import type { WindowAnswer, SlackSubmission } from './submissions.ts';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { handleClick } from './clicks.ts';
import type { SlackClick } from './clicks.ts';
import type { SlackContext } from './context.ts';
import { publishHome } from './home.ts';
import { handleSubmission } from './submissions.ts';

export interface SlackInteractivity {
  /** Starts handling a button. */
  click(team: string, click: SlackClick): void;
  /** Undefined closes the window. Rejects if it may be sent again. */
  submit(team: string, submission: SlackSubmission): Promise<WindowAnswer | undefined>;
  /** Resolves when nothing is being handled. */
  idle(): Promise<void>;
}

export function createInteractivity(context: SlackContext): SlackInteractivity {
  const { slack, logger } = context;
  const running = new Set<Promise<void>>();
  const begin = (what: string, work: Promise<unknown>) => {
    const ended = work
      .then(() => undefined)
      .catch((err: unknown) => logger.warn({ err, what }, 'Slack: an interaction could not be handled'))
      .finally(() => running.delete(ended));
    running.add(ended);
  };
  const onAnswered = (workspace: SlackWorkspace, slackUser: string) =>
    begin('home', publishHome(context, workspace, slackUser));
  const parts = { ...context, onAnswered };

  return {
    click(team, click) {
      begin(
        click.action,
        slack.workspaces.of(team).then((workspace) => workspace && handleClick(parts, workspace, click)),
      );
    },
    async submit(team, submission) {
      const workspace = await slack.workspaces.of(team);
      if (!workspace) return undefined;
      return handleSubmission(parts, workspace, submission, (work) => begin('submission', work));
    },
    async idle() {
      // Handling one may begin another.
      while (running.size > 0) await Promise.all(running);
    },
  };
}

const id = z.string().min(1).max(100);
const sender = { team: z.object({ id }), user: z.object({ id }) };

const clickSchema = z.object({
  ...sender,
  type: z.literal('block_actions'),
  /** Missing in the app's home. */
  channel: z.object({ id }).nullish(),
  container: z.object({ thread_ts: id.nullish() }),
  trigger_id: z.string().max(1_000),
  actions: z.array(z.object({ action_id: z.string().max(255), value: ElicitationIdSchema })).min(1),
});

const submissionSchema = z.object({
  ...sender,
  type: z.literal('view_submission'),
  view: z.object({
    id,
    callback_id: z.literal(questionCallback),
    private_metadata: ElicitationIdSchema,
    state: z.object({ values: viewValuesSchema }),
  }),
});

const interactionSchema = z.discriminatedUnion('type', [clickSchema, submissionSchema]);

/** Ignores what is not ours. Returns what Slack should do with the window, if there is one; undefined closes it. */
export async function takeInteraction(
  interactivity: Pick<SlackInteractivity, 'click' | 'submit'>,
  payload: unknown,
  address: string | null,
): Promise<WindowAnswer | undefined> {
  const { data } = interactionSchema.safeParse(payload);
  if (!data) return undefined;
  const { team, user } = data;
  if (data.type === 'view_submission') {
    const { id: viewId, private_metadata: elicitationId, state } = data.view;
    const { values } = state;
    return interactivity.submit(team.id, { elicitationId, slackUser: user.id, viewId, values, address });
  }
  const [action] = data.actions;
  if (!action) return undefined;
  interactivity.click(team.id, {
    action: action.action_id,
    value: action.value,
    slackUser: user.id,
    channel: data.channel?.id ?? null,
    threadTs: data.container.thread_ts ?? null,
    triggerId: data.trigger_id,
    address,
  });
  return undefined;
}
