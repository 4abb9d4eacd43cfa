/**
 * What people press and send in Slack, over HTTP or the socket. What is not ours, or of no workspace of ours, is ignored.
 */
import { z } from 'zod';
import { ElicitationIdSchema } from '../../contract/ids.ts';
import { viewValuesSchema } from '../../slack/blocks/field-values.ts';
import { questionCallback } from '../../slack/blocks/question-modal.ts';
import type { SlackApp } from './app.ts';
import type { WindowAnswer } from './submissions.ts';

const id = z.string().min(1).max(100);
const whose = { team: z.object({ id }), user: z.object({ id }) };

const clickSchema = z.object({
  ...whose,
  type: z.literal('block_actions'),
  /** Not in the app's home. */
  channel: z.object({ id }).nullish(),
  container: z.object({ thread_ts: id.nullish() }),
  trigger_id: z.string().max(1_000),
  actions: z.array(z.object({ action_id: z.string().max(255), value: ElicitationIdSchema })).min(1),
});

const submissionSchema = z.object({
  ...whose,
  type: z.literal('view_submission'),
  view: z.object({
    id,
    callback_id: z.literal(questionCallback),
    private_metadata: ElicitationIdSchema,
    state: z.object({ values: viewValuesSchema }),
  }),
});

const interactionSchema = z.discriminatedUnion('type', [clickSchema, submissionSchema]);

/** What Slack is to do with the window that it came from; nothing: it closes, or there is none. */
export async function takeInteraction(
  { interactivity }: Pick<SlackApp, 'interactivity'>,
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
