/** Buttons that were pressed in Slack, over HTTP or the socket. What is not ours, or of no workspace of ours, is ignored. */
import { z } from 'zod';
import type { SlackApp } from '../../service/slack/app.ts';

const id = z.string().min(1).max(100);
const clickSchema = z.object({
  type: z.literal('block_actions'),
  team: z.object({ id }),
  user: z.object({ id }),
  channel: z.object({ id }),
  container: z.object({ message_ts: id, thread_ts: id.optional() }),
  trigger_id: z.string().max(1_000),
  actions: z.array(z.object({ action_id: z.string().max(255), value: id })).min(1),
});

export function takeInteraction(
  slack: Pick<SlackApp, 'click'>,
  payload: unknown,
  address: string | null,
): void {
  const { data } = clickSchema.safeParse(payload);
  const [action] = data?.actions ?? [];
  if (!data || !action) return;
  slack.click(data.team.id, {
    action: action.action_id,
    elicitationId: action.value,
    slackUser: data.user.id,
    channel: data.channel.id,
    threadTs: data.container.thread_ts ?? null,
    triggerId: data.trigger_id,
    address,
  });
}
